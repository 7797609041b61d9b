/* Graphs, for both interfaces. */
#ifndef GRAPHS_H
#define GRAPHS_H

#include "warploom.h"

enum { KERNEL_NODE, COPY_NODE, FILL_NODE, HOST_NODE, CHILD_NODE, EMPTY_NODE, WAIT_NODE, RECORD_NODE };
enum { CAPTURE_UNSUPPORTED = 900, CAPTURE_ILLEGAL = 401, UPDATE_FAILED = 910 };
enum { NODE_WORDS = 10 };

struct node {
    int kind, disabled, placed;
    struct graph *graph;
    word number, befores;
    struct node **before, *original; /* the node that it was copied from */
    struct kernel *kernel;
    struct shape shape;
    char *parameters;
    void **pointers;
    word bytes, words[NODE_WORDS]; /* of copies and fills what the function is given that makes them */
    void (*function)(void *);
    void *data;
    struct graph *child;
    struct event *event;
};
/* What a program wants to hear of when no graph needs it any more. */
struct user_object { void *data; void (*drop)(void *); int64_t uses; };
struct held { struct user_object *object; word uses; };
struct graph { struct node **nodes; struct held *held; word count, holds, number; int capturing; };

status capture_info(const struct stream *stream, int *is, word *id, struct graph **graph, struct node ***nodes, size_t *count)
    SHARED(capture_info);
struct graph *make_graph(void) SHARED(make_graph);
struct graph *copy_graph(const struct graph *from) SHARED(copy_graph);
struct graph *ordered_graph(const struct graph *from) SHARED(ordered_graph);
void drop_graph(struct graph *graph) SHARED(drop_graph);
void hold(struct graph *graph, struct user_object *object, word uses) SHARED(hold);
void let_go(struct user_object *object, word uses) SHARED(let_go);
struct node *add_node(struct graph *graph, int kind) SHARED(add_node);
status finish_node(struct node **node, struct graph *graph, word count, struct node *const *before, size_t befores, status outcome)
    SHARED(finish_node);
status list_nodes(struct node *const *found, word count, struct node **nodes, size_t *room) SHARED(list_nodes);
void put_before(struct node *node, struct node *earlier) SHARED(put_before);
void copy_contents(struct node *to, const struct node *from) SHARED(copy_contents);
struct node *node_in(const struct graph *copy, const struct node *node) SHARED(node_in);
status run_graph(const struct graph *graph, void *stream) SHARED(run_graph);
status update_graph(struct graph *executable, const struct graph *graph) SHARED(update_graph);
status begin_capture(struct stream *stream, struct graph *graph) SHARED(begin_capture);
status end_capture(struct stream *stream, struct graph **graph) SHARED(end_capture);

status note_launch(struct graph *graph, struct kernel *kernel, const struct shape *shape, const void *parameters, word bytes)
    SHARED(note_launch);
status note_words(int kind, const word *words, unsigned count) SHARED(note_words);

/* The graph that the library notes work in, for a node that is added; then note_no_more. */
#define NOTED_AS_NODE(graph, call) (note_in(graph), note_no_more(call))

#endif
