/* Graphs in the driver's interface: captured, made node by node, instantiated, changed and launched. */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "graphs.h"

struct kernel_parameters {
    struct kernel *function;
    dim3 grid, block;
    unsigned shared;
    void **arguments, **extra;
    struct kernel *kernel;
    void *context;
};
struct host_parameters { void (*function)(void *); void *data; };
struct fill_parameters { address to; size_t pitch; unsigned value, element; size_t width, height; void *context; };
struct instantiation { uint64_t flags; void *stream; struct node *failed; int result; };
struct update { int result; struct node *node, *from; };
enum { INSTANTIATION_FAILED = 1, TOPOLOGY_CHANGED = 2 };

API status cuStreamBeginCapture_v2(struct stream *stream, int mode) { return (void)mode, begin_capture(stream, NULL); }
API status cuStreamBeginCapture(struct stream *stream) { return begin_capture(stream, NULL); }
API status cuStreamBeginCaptureToGraph(struct stream *stream, struct graph *graph, struct node *const *before, const void *edges,
                                       size_t count, int mode) {
    (void)before, (void)edges, (void)count, (void)mode; /* what is in the graph comes first as it is */
    return graph ? begin_capture(stream, graph) : INVALID_VALUE;
}
API status cuStreamEndCapture(struct stream *stream, struct graph **graph) { return end_capture(stream, graph); }
API status cuStreamUpdateCaptureDependencies(void) { return SUCCESS; }
API status cuStreamUpdateCaptureDependencies_v2(void) { return SUCCESS; }

API status cuGraphCreate(struct graph **graph, unsigned flags) { return *graph = make_graph(), flags ? INVALID_VALUE : SUCCESS; }
API status cuGraphDestroy(struct graph *graph) { return graph ? drop_graph(graph), SUCCESS : INVALID_VALUE; }
API status cuGraphClone(struct graph **graph, struct graph *from) { return from ? *graph = copy_graph(from), SUCCESS : INVALID_VALUE; }
API status cuGraphNodeFindInClone(struct node **node, struct node *original, struct graph *clone) {
    return (*node = node_in(clone, original)) ? SUCCESS : INVALID_VALUE;
}

/* What a call noted becomes the new node, after those that it depends on. */
#define ADD(call) do { \
        word count = graph ? graph->count : 0; \
        return graph ? finish_node(node, graph, count, before, befores, NOTED_AS_NODE(graph, call)) : INVALID_VALUE; \
    } while (0)
#define NEW_NODE struct node **node, struct graph *graph, struct node *const *before, size_t befores

static status launch_of(const struct kernel_parameters *how) {
    struct kernel *kernel = how->function ? how->function : how->kernel;
    return cuLaunchKernel(kernel, how->grid.x, how->grid.y, how->grid.z, how->block.x, how->block.y, how->block.z, how->shared, NULL,
                          how->arguments, how->extra);
}
static status fill_of(const struct fill_parameters *how) {
    size_t pitch = how->height > 1 ? how->pitch : how->width * how->element;
    if (how->element == 1) return cuMemsetD2D8_v2(how->to, pitch, how->value, how->width, how->height);
    if (how->element == 2) return cuMemsetD2D16_v2(how->to, pitch, how->value, how->width, how->height);
    return how->element == 4 ? cuMemsetD2D32_v2(how->to, pitch, how->value, how->width, how->height) : INVALID_VALUE;
}

API status cuGraphAddKernelNode_v2(NEW_NODE, const struct kernel_parameters *how) { ADD(launch_of(how)); }
API status cuGraphAddKernelNode(NEW_NODE, const struct kernel_parameters *how) { /* an older structure, which ends earlier */
    struct kernel_parameters known = {how->function, how->grid, how->block, how->shared, how->arguments, how->extra};
    ADD(launch_of(&known));
}
API status cuGraphAddMemcpyNode(NEW_NODE, const void *how, void *context) { ADD(cuMemcpy3D_v2(how)); }
API status cuGraphAddMemsetNode(NEW_NODE, const struct fill_parameters *how, void *context) { ADD(fill_of(how)); }
API status cuGraphAddHostNode(NEW_NODE, const struct host_parameters *how) { ADD(call_on_host(how->function, how->data)); }
API status cuGraphAddEmptyNode(NEW_NODE) { ADD(SUCCESS); }
API status cuGraphAddChildGraphNode(NEW_NODE, struct graph *child) {
    status outcome = cuGraphAddEmptyNode(node, graph, before, befores);
    if (outcome) return outcome;
    (*node)->kind = CHILD_NODE;
    (*node)->child = ordered_graph(child);
    return (*node)->child ? SUCCESS : INVALID_VALUE;
}
static status event_node(NEW_NODE, struct event *event, int kind) {
    status outcome = cuGraphAddEmptyNode(node, graph, before, befores);
    if (!outcome) (*node)->kind = kind, (*node)->event = event;
    return outcome;
}
API status cuGraphAddEventRecordNode(NEW_NODE, struct event *event) { return event_node(node, graph, before, befores, event, RECORD_NODE); }
API status cuGraphAddEventWaitNode(NEW_NODE, struct event *event) { return event_node(node, graph, before, befores, event, WAIT_NODE); }

API status cuGraphAddDependencies(struct graph *graph, struct node *const *from, struct node *const *to, size_t count) {
    for (size_t i = 0; i < count; i++) put_before(to[i], from[i]);
    return graph ? SUCCESS : INVALID_VALUE;
}
API status cuGraphAddDependencies_v2(struct graph *graph, struct node *const *from, struct node *const *to, const void *edges,
                                     size_t count) {
    return (void)edges, cuGraphAddDependencies(graph, from, to, count);
}

API status cuGraphKernelNodeGetParams_v2(struct node *node, struct kernel_parameters *how) {
    if (!node || node->kind != KERNEL_NODE) return INVALID_VALUE;
    *how = (struct kernel_parameters){node->kernel, node->shape.grid, node->shape.block, node->shape.shared, node->pointers};
    return SUCCESS;
}

/* The same call, noted in a graph of its own, tells what the node does from now on. */
static status change(struct node *node, struct graph *scratch, status outcome) {
    if (!outcome && node && scratch->count == 1 && scratch->nodes[0]->kind == node->kind) copy_contents(node, scratch->nodes[0]);
    else if (!outcome) outcome = INVALID_VALUE;
    drop_graph(scratch);
    return outcome;
}
#define CHANGE(which, call) do { \
        struct graph *scratch = make_graph(); \
        return change(which, scratch, NOTED_AS_NODE(scratch, call)); \
    } while (0)

API status cuGraphKernelNodeSetParams_v2(struct node *node, const struct kernel_parameters *how) { CHANGE(node, launch_of(how)); }
API status cuGraphExecKernelNodeSetParams_v2(struct graph *graph, struct node *node, const struct kernel_parameters *how) {
    CHANGE(node_in(graph, node), launch_of(how));
}
API status cuGraphMemcpyNodeSetParams(struct node *node, const void *how) { CHANGE(node, cuMemcpy3D_v2(how)); }
API status cuGraphExecMemcpyNodeSetParams(struct graph *graph, struct node *node, const void *how, void *context) {
    (void)context;
    CHANGE(node_in(graph, node), cuMemcpy3D_v2(how));
}
API status cuGraphMemsetNodeSetParams(struct node *node, const struct fill_parameters *how) { CHANGE(node, fill_of(how)); }
API status cuGraphExecMemsetNodeSetParams(struct graph *graph, struct node *node, const struct fill_parameters *how, void *context) {
    (void)context;
    CHANGE(node_in(graph, node), fill_of(how));
}
API status cuGraphHostNodeSetParams(struct node *node, const struct host_parameters *how) {
    CHANGE(node, call_on_host(how->function, how->data));
}
API status cuGraphExecHostNodeSetParams(struct graph *graph, struct node *node, const struct host_parameters *how) {
    CHANGE(node_in(graph, node), call_on_host(how->function, how->data));
}
API status cuGraphNodeSetEnabled(struct graph *graph, struct node *node, unsigned enabled) {
    struct node *found = node_in(graph, node);
    return found ? found->disabled = !enabled, SUCCESS : INVALID_VALUE;
}
API status cuGraphNodeGetEnabled(struct graph *graph, struct node *node, unsigned *enabled) {
    struct node *found = node_in(graph, node);
    return found ? *enabled = !found->disabled, SUCCESS : INVALID_VALUE;
}

API status cuGraphNodeGetType(struct node *node, int *kind) { return node ? *kind = node->kind, SUCCESS : INVALID_VALUE; }

API status cuGraphGetNodes(struct graph *graph, struct node **nodes, size_t *room) {
    return graph ? list_nodes(graph->nodes, graph->count, nodes, room) : INVALID_VALUE;
}
API status cuGraphGetRootNodes(struct graph *graph, struct node **nodes, size_t *room) {
    struct node **roots = malloc((graph->count + 1) * sizeof *roots);
    word count = 0;
    for (word i = 0; i < graph->count; i++)
        if (!graph->nodes[i]->befores) roots[count++] = graph->nodes[i];
    list_nodes(roots, count, nodes, room);
    free(roots);
    return SUCCESS;
}
API status cuGraphNodeGetDependencies(struct node *node, struct node **before, size_t *room) {
    return node ? list_nodes(node->before, node->befores, before, room) : INVALID_VALUE;
}
API status cuGraphNodeGetDependencies_v2(struct node *node, struct node **before, const void *edges, size_t *room) {
    return (void)edges, cuGraphNodeGetDependencies(node, before, room);
}
API status cuGraphGetEdges(struct graph *graph, struct node **from, struct node **to, size_t *room) {
    size_t count = 0;
    for (word i = 0; i < graph->count; i++)
        for (word k = 0; k < graph->nodes[i]->befores; k++, count++)
            if (from && to && count < *room) from[count] = graph->nodes[i]->before[k], to[count] = graph->nodes[i];
    if (!from || *room > count) *room = count;
    return SUCCESS;
}

API status cuGraphGetEdges_v2(struct graph *graph, struct node **from, struct node **to, const void *edges, size_t *room) {
    return (void)edges, cuGraphGetEdges(graph, from, to, room);
}

/* An executable graph is a copy in an order in which it can be done. */
API status cuGraphInstantiateWithFlags(struct graph **executable, struct graph *graph, uint64_t flags) {
    (void)flags;
    return graph && (*executable = ordered_graph(graph)) ? SUCCESS : INVALID_VALUE;
}
API status cuGraphInstantiateWithParams(struct graph **executable, struct graph *graph, struct instantiation *how) {
    status outcome = cuGraphInstantiateWithFlags(executable, graph, how->flags);
    how->result = outcome ? INSTANTIATION_FAILED : SUCCESS;
    return outcome;
}
API status cuGraphInstantiate_v2(struct graph **executable, struct graph *graph, struct node **failed, char *text, size_t room) {
    if (failed) *failed = NULL;
    if (text && room) *text = 0;
    return cuGraphInstantiateWithFlags(executable, graph, 0);
}
API status cuGraphInstantiate(struct graph **executable, struct graph *graph, struct node **failed, char *text, size_t room) {
    return cuGraphInstantiate_v2(executable, graph, failed, text, room);
}
API status cuGraphExecGetFlags(struct graph *executable, uint64_t *flags) { return (void)executable, *flags = 0, SUCCESS; }
API status cuGraphUpload(struct graph *executable, void *stream) { return (void)stream, executable ? SUCCESS : INVALID_VALUE; }
API status cuGraphLaunch(struct graph *executable, void *stream) {
    status outcome = executable ? in_context() : INVALID_VALUE;
    return outcome ? outcome : checked(IN_STREAM(stream, run_graph(executable, stream)));
}
API status cuGraphExecDestroy(struct graph *executable) { return cuGraphDestroy(executable); }
API status cuGraphExecUpdate_v2(struct graph *executable, struct graph *graph, struct update *said) {
    status outcome = update_graph(executable, graph);
    if (said) *said = (struct update){outcome ? TOPOLOGY_CHANGED : SUCCESS, NULL, NULL};
    return outcome;
}
API status cuGraphExecUpdate(struct graph *executable, struct graph *graph, struct node **failed, int *result) {
    status outcome = update_graph(executable, graph);
    if (failed) *failed = NULL;
    if (result) *result = outcome ? TOPOLOGY_CHANGED : SUCCESS;
    return outcome;
}

API status cuUserObjectCreate(struct user_object **object, void *data, void (*drop)(void *), unsigned uses, unsigned flags) {
    (void)flags;
    if (!object || !drop || !uses) return INVALID_VALUE;
    *object = malloc(sizeof **object);
    **object = (struct user_object){data, drop, uses};
    return SUCCESS;
}
API status cuUserObjectRetain(struct user_object *object, unsigned uses) {
    return object ? __atomic_add_fetch(&object->uses, uses, __ATOMIC_RELAXED), SUCCESS : INVALID_VALUE;
}
API status cuUserObjectRelease(struct user_object *object, unsigned uses) { return object ? let_go(object, uses), SUCCESS : INVALID_VALUE; }
API status cuGraphRetainUserObject(struct graph *graph, struct user_object *object, unsigned uses, unsigned flags) {
    enum { MOVE = 1 };
    if (!graph || !object) return INVALID_VALUE;
    if (!(flags & MOVE)) cuUserObjectRetain(object, uses);
    hold(graph, object, uses);
    return SUCCESS;
}
API status cuGraphReleaseUserObject(struct graph *graph, struct user_object *object, unsigned uses) {
    for (word i = 0; graph && i < graph->holds; i++) {
        struct held *held = &graph->held[i];
        if (held->object != object || held->uses < uses) continue;
        held->uses -= uses;
        let_go(object, uses);
        if (!held->uses) *held = graph->held[--graph->holds];
        return SUCCESS;
    }
    return INVALID_VALUE;
}
