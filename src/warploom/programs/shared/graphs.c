/* Graphs: work that is noted, in the order in which it may be done, and done when the graph is launched.

   Work reaches a device through few functions. Where a thread notes, because a node is added or its stream is captured, they add a
   node instead. A stream's nodes follow each other, so that the order in which they were noted is one that may be kept. */
#include <stdlib.h>
#include <string.h>

#include "graphs.h"

static _Thread_local struct graph *noting;

struct graph *noted_in(void) { return noting; }
void note_in(struct graph *graph) { noting = graph; }
status note_no_more(status outcome) { return noting = NULL, outcome; }

struct graph *captured(const struct stream *stream) { return is_default_stream(stream) ? NULL : stream->captured; }

/* Whether a stream is captured and, where it is asked for, into which graph, behind which node. */
status capture_info(const struct stream *stream, int *is, word *id, struct graph **graph, struct node ***nodes, size_t *count) {
    struct graph *found = captured(stream);
    *is = found != NULL;
    if (!found) return SUCCESS;
    if (id) *id = found->number;
    if (graph) *graph = found;
    if (nodes) *nodes = found->count ? &found->nodes[found->count - 1] : NULL;
    if (count) *count = found->count > 0;
    return SUCCESS;
}

/* After a captured event, a stream is part of the capture, too. */
void join_capture(struct stream *stream, const struct event *event) {
    if (!is_default_stream(stream) && event->captured) stream->captured = event->captured;
}

struct graph *make_graph(void) {
    static word made;
    struct graph *graph = calloc(1, sizeof *graph);
    graph->number = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    return graph;
}

static void drop_contents(struct node *node) {
    free(node->parameters);
    free(node->pointers);
    node->parameters = NULL;
    node->pointers = NULL;
}

void drop_graph(struct graph *graph) {
    for (word i = 0; i < graph->count; i++) {
        drop_contents(graph->nodes[i]);
        free(graph->nodes[i]->before);
        free(graph->nodes[i]);
    }
    for (word i = 0; i < graph->holds; i++) let_go(graph->held[i].object, graph->held[i].uses);
    free(graph->held);
    free(graph->nodes);
    free(graph);
}

/* A graph has so many uses of an object, which were counted before. */
void hold(struct graph *graph, struct user_object *object, word uses) {
    graph->held = realloc(graph->held, (graph->holds + 1) * sizeof *graph->held);
    graph->held[graph->holds++] = (struct held){object, uses};
}

void let_go(struct user_object *object, word uses) {
    if (__atomic_sub_fetch(&object->uses, uses, __ATOMIC_ACQ_REL) > 0) return;
    object->drop(object->data);
    free(object);
}

/* A node without anything before it. */
struct node *add_node(struct graph *graph, int kind) {
    struct node *node = calloc(1, sizeof *node);
    *node = (struct node){.kind = kind, .graph = graph, .number = graph->count};
    graph->nodes = realloc(graph->nodes, (graph->count + 1) * sizeof *graph->nodes);
    return graph->nodes[graph->count++] = node;
}

void put_before(struct node *node, struct node *earlier) {
    node->before = realloc(node->before, (node->befores + 1) * sizeof *node->before);
    node->before[node->befores++] = earlier;
}

/* What a call noted becomes the new node, after those that it depends on. */
status finish_node(struct node **node, struct graph *graph, word count, struct node *const *before, size_t befores, status outcome) {
    if (outcome) return outcome;
    struct node *made = graph->count > count ? graph->nodes[count] : add_node(graph, EMPTY_NODE);
    for (size_t i = 0; i < befores; i++) put_before(made, before[i]);
    *node = made;
    return SUCCESS;
}

/* Within a capture each node follows the last. */
struct node *note(int kind) {
    struct node *last = noting->count ? noting->nodes[noting->count - 1] : NULL, *node = add_node(noting, kind);
    if (last && noting->capturing) put_before(node, last);
    return node;
}

/* Where each parameter lies in a node, as programs want to see them. */
static void point_at_parameters(struct node *node) {
    node->pointers = calloc(node->kernel->parameters + 1, sizeof *node->pointers);
    for (unsigned i = 0; i < node->kernel->parameters; i++) node->pointers[i] = node->parameters + node->kernel->offsets[i];
}

status note_launch(struct graph *graph, struct kernel *kernel, const struct shape *shape, const void *parameters, word bytes) {
    struct graph *outer = noting;
    noting = graph;
    struct node *node = note(KERNEL_NODE);
    noting = outer;
    node->kernel = kernel;
    node->shape = *shape;
    node->shape.stream = NULL; /* it is the one of the graph's launch */
    node->bytes = bytes;
    memcpy(node->parameters = malloc(bytes + 1), parameters, bytes);
    point_at_parameters(node);
    return SUCCESS;
}

status note_words(int kind, const word *words, unsigned count) {
    memcpy(note(kind)->words, words, count * sizeof *words);
    return SUCCESS;
}

status call_on_host(void (*function)(void *), void *data) {
    if (noting) {
        struct node *node = note(HOST_NODE);
        node->function = function;
        node->data = data;
        return SUCCESS;
    }
    status outcome = ASK(SYNCHRONIZE, NULL, 0);
    if (!outcome) function(data);
    return outcome;
}

/* What a node does becomes what another one does; both are of the same kind. */
void copy_contents(struct node *to, const struct node *from) {
    drop_contents(to);
    struct node kept = *to;
    *to = *from;
    to->graph = kept.graph;
    to->number = kept.number;
    to->before = kept.before;
    to->befores = kept.befores;
    to->original = kept.original;
    if (from->kind != KERNEL_NODE) return;
    memcpy(to->parameters = malloc(from->bytes + 1), from->parameters, from->bytes);
    point_at_parameters(to);
}

/* The node of a copy, such as an executable graph, that stands for one of the graph it was made of. */
struct node *node_in(const struct graph *copy, const struct node *node) {
    for (word i = 0; i < copy->count; i++)
        if (copy->nodes[i]->original == node) return copy->nodes[i];
    return NULL;
}

struct graph *copy_graph(const struct graph *from) {
    struct graph *graph = make_graph();
    for (word i = 0; i < from->holds; i++) {
        __atomic_add_fetch(&from->held[i].object->uses, from->held[i].uses, __ATOMIC_RELAXED);
        hold(graph, from->held[i].object, from->held[i].uses);
    }
    for (word i = 0; i < from->count; i++) {
        struct node *node = add_node(graph, from->nodes[i]->kind);
        copy_contents(node, from->nodes[i]);
        node->original = from->nodes[i];
    }
    for (word i = 0; i < from->count; i++)
        for (word k = 0; k < from->nodes[i]->befores; k++) put_before(graph->nodes[i], node_in(graph, from->nodes[i]->before[k]));
    return graph;
}

static int is_ready(const struct node *node) {
    for (word i = 0; i < node->befores; i++)
        if (!node->before[i]->placed) return 0;
    return 1;
}

/* A copy whose nodes stand in an order in which they can be done; NULL if there is none. */
struct graph *ordered_graph(const struct graph *from) {
    struct graph *graph = copy_graph(from);
    struct node **order = malloc((graph->count + 1) * sizeof *order);
    word done = 0;
    for (word before = 1; done < graph->count && before != done;) {
        before = done;
        for (word i = 0; i < graph->count; i++)
            if (!graph->nodes[i]->placed && is_ready(graph->nodes[i])) {
                graph->nodes[i]->placed = 1;
                order[done++] = graph->nodes[i];
            }
    }
    if (done < graph->count) {
        free(order);
        drop_graph(graph);
        return NULL;
    }
    free(graph->nodes);
    graph->nodes = order;
    return graph;
}

static status run_node(const struct node *node, void *stream) {
    const word *w = node->words;
    struct shape shape = node->shape;
    shape.stream = stream;
    switch (node->kind) {
    case KERNEL_NODE: return launch_packed(node->kernel, &shape, node->parameters, node->bytes);
    case COPY_NODE: return transfer(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], (int)w[9]);
    case FILL_NODE: return fill_bytes(w[0], w[1], w[2], (int)w[3], w[4], w[5], w[6]);
    case HOST_NODE: return call_on_host(node->function, node->data);
    case RECORD_NODE: return noting ? SUCCESS : record_event(node->event);
    case CHILD_NODE: return run_graph(node->child, stream);
    default: return SUCCESS;
    }
}

status run_graph(const struct graph *graph, void *stream) {
    status outcome = SUCCESS;
    for (word i = 0; !outcome && i < graph->count; i++)
        if (!graph->nodes[i]->disabled) outcome = run_node(graph->nodes[i], stream);
    return outcome;
}

status begin_capture(struct stream *stream, struct graph *graph) {
    if (is_default_stream(stream)) return CAPTURE_UNSUPPORTED;
    if (stream->captured) return CAPTURE_ILLEGAL;
    stream->captured = graph ? graph : make_graph();
    stream->captured->capturing = 1;
    return SUCCESS;
}

status end_capture(struct stream *stream, struct graph **graph) {
    if (!captured(stream)) return CAPTURE_ILLEGAL;
    *graph = stream->captured;
    forget_capture(stream->captured);
    return SUCCESS;
}

status update_graph(struct graph *executable, const struct graph *graph) {
    struct graph *newer = ordered_graph(graph);
    if (!newer) return INVALID_VALUE;
    int same = newer->count == executable->count;
    for (word i = 0; same && i < newer->count; i++) same = newer->nodes[i]->kind == executable->nodes[i]->kind;
    for (word i = 0; same && i < newer->count; i++) copy_contents(executable->nodes[i], newer->nodes[i]);
    drop_graph(newer);
    return same ? SUCCESS : UPDATE_FAILED;
}

/* Nodes that fit the room that is given, and how many there are; what is more than there are is nothing. */
status list_nodes(struct node *const *found, word count, struct node **nodes, size_t *room) {
    if (!nodes) return *room = count, SUCCESS;
    for (size_t i = 0; i < *room; i++) nodes[i] = i < count ? found[i] : NULL;
    if (*room > count) *room = count;
    return SUCCESS;
}
