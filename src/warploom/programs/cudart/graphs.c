/* Graphs in the runtime's interface: captured, or made node by node; instantiated and launched. */
#include <stdlib.h>

#include "graphs.h"

struct kernel_parameters { const void *host; dim3 grid, block; unsigned shared; void **arguments, **extra; };
struct host_parameters { void (*function)(void *); void *data; };
struct fill_parameters { void *to; size_t pitch; unsigned value, element; size_t width, height; };
struct update { int result; struct node *node, *from; };
enum { TOPOLOGY_CHANGED = 2 };

status missing(const char *name, int *said);
status cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream);
status cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
status cudaMemcpy3D(const void *how);
status cudaMemset2D(void *to, size_t pitch, int byte, size_t width, size_t rows);

API status cudaStreamBeginCapture(struct stream *stream, int mode) { return (void)mode, noted(begin_capture(stream, NULL)); }
API status cudaStreamBeginCaptureToGraph(struct stream *stream, struct graph *graph, struct node *const *before, const void *edges,
                                         size_t count, int mode) {
    (void)before, (void)edges, (void)count, (void)mode; /* what is in the graph comes first as it is */
    return noted(graph ? begin_capture(stream, graph) : INVALID_VALUE);
}
API status cudaStreamEndCapture(struct stream *stream, struct graph **graph) { return noted(end_capture(stream, graph)); }
API status cudaStreamIsCapturing(const struct stream *stream, int *is) { return *is = captured(stream) != NULL, SUCCESS; }
API status cudaStreamGetCaptureInfo_v2(const struct stream *stream, int *is, word *id, struct graph **graph, struct node ***nodes,
                                       size_t *count) {
    return capture_info(stream, is, id, graph, nodes, count);
}
API status cudaStreamGetCaptureInfo_v3(const struct stream *stream, int *is, word *id, struct graph **graph, struct node ***nodes,
                                       const void **edges, size_t *count) {
    if (edges) *edges = NULL;
    return cudaStreamGetCaptureInfo_v2(stream, is, id, graph, nodes, count);
}
#if WARPLOOM_CUDART_MAJOR >= 13
API status cudaStreamGetCaptureInfo(const struct stream *stream, int *is, word *id, struct graph **graph, struct node ***nodes,
                                    const void **edges, size_t *count) {
    return cudaStreamGetCaptureInfo_v3(stream, is, id, graph, nodes, edges, count);
}
#else
API status cudaStreamGetCaptureInfo(const struct stream *stream, int *is, word *id) {
    return cudaStreamGetCaptureInfo_v2(stream, is, id, NULL, NULL, NULL);
}
#endif
API status cudaStreamUpdateCaptureDependencies(void) { return SUCCESS; }
API status cudaThreadExchangeStreamCaptureMode(int *mode) { return *mode = 0, SUCCESS; }

API status cudaGraphCreate(struct graph **graph, unsigned flags) { return *graph = make_graph(), noted(flags ? INVALID_VALUE : SUCCESS); }
API status cudaGraphDestroy(struct graph *graph) { return noted(graph ? drop_graph(graph), SUCCESS : INVALID_VALUE); }
API status cudaGraphClone(struct graph **graph, struct graph *from) {
    return noted(from ? *graph = copy_graph(from), SUCCESS : INVALID_VALUE);
}

#define ADD(call) do { \
        word count = graph ? graph->count : 0; \
        return noted(graph ? finish_node(node, graph, count, before, befores, NOTED_AS_NODE(graph, call)) : INVALID_VALUE); \
    } while (0)
#define NEW_NODE struct node **node, struct graph *graph, struct node *const *before, size_t befores

API status cudaGraphAddKernelNode(NEW_NODE, const struct kernel_parameters *how) {
    ADD(cudaLaunchKernel(how->host, how->grid, how->block, how->arguments, how->shared, NULL));
}
API status cudaGraphAddMemcpyNode(NEW_NODE, const void *how) { ADD(cudaMemcpy3D(how)); }
API status cudaGraphAddMemcpyNode1D(NEW_NODE, void *to, const void *from, size_t bytes, int kind) {
    ADD(cudaMemcpy(to, from, bytes, kind));
}
API status cudaGraphAddMemsetNode(NEW_NODE, const struct fill_parameters *how) {
    static int said;
    unsigned byte = how->value & 0xFF, all = byte * 0x01010101u, mask = how->element < 4 ? (1u << 8 * how->element) - 1 : ~0u;
    if (how->value != (all & mask)) return missing("cudaGraphAddMemsetNode for elements whose bytes differ", &said);
    size_t width = how->width * how->element;
    ADD(cudaMemset2D(how->to, how->height > 1 ? how->pitch : width, byte, width, how->height));
}
API status cudaGraphAddHostNode(NEW_NODE, const struct host_parameters *how) { ADD(call_on_host(how->function, how->data)); }
API status cudaGraphAddEmptyNode(NEW_NODE) { ADD(SUCCESS); }

static status add_dependencies(struct graph *graph, struct node *const *from, struct node *const *to, size_t count) {
    for (size_t i = 0; i < count; i++) put_before(to[i], from[i]);
    return noted(graph ? SUCCESS : INVALID_VALUE);
}
API status cudaGraphAddDependencies_v2(struct graph *graph, struct node *const *from, struct node *const *to, const void *edges,
                                       size_t count) {
    return (void)edges, add_dependencies(graph, from, to, count);
}
#if WARPLOOM_CUDART_MAJOR >= 13
API status cudaGraphAddDependencies(struct graph *graph, struct node *const *from, struct node *const *to, const void *edges,
                                    size_t count) {
    return (void)edges, add_dependencies(graph, from, to, count);
}
#else
API status cudaGraphAddDependencies(struct graph *graph, struct node *const *from, struct node *const *to, size_t count) {
    return add_dependencies(graph, from, to, count);
}
#endif
API status cudaGraphGetNodes(struct graph *graph, struct node **nodes, size_t *room) {
    return noted(graph ? list_nodes(graph->nodes, graph->count, nodes, room) : INVALID_VALUE);
}
API status cudaGraphNodeGetType(struct node *node, int *kind) { return noted(node ? *kind = node->kind, SUCCESS : INVALID_VALUE); }

API status cudaGraphInstantiateWithFlags(struct graph **executable, struct graph *graph, uint64_t flags) {
    (void)flags;
    return noted(graph && (*executable = ordered_graph(graph)) ? SUCCESS : INVALID_VALUE);
}
#if WARPLOOM_CUDART_MAJOR >= 12
API status cudaGraphInstantiate(struct graph **executable, struct graph *graph, uint64_t flags) {
    return cudaGraphInstantiateWithFlags(executable, graph, flags);
}
API status cudaGraphExecUpdate(struct graph *executable, struct graph *graph, struct update *said) {
    status outcome = update_graph(executable, graph);
    if (said) *said = (struct update){outcome ? TOPOLOGY_CHANGED : SUCCESS, NULL, NULL};
    return noted(outcome);
}
#else
API status cudaGraphInstantiate(struct graph **executable, struct graph *graph, struct node **failed, char *text, size_t room) {
    if (failed) *failed = NULL;
    if (text && room) *text = 0;
    return cudaGraphInstantiateWithFlags(executable, graph, 0);
}
API status cudaGraphExecUpdate(struct graph *executable, struct graph *graph, struct node **failed, int *result) {
    status outcome = update_graph(executable, graph);
    if (failed) *failed = NULL;
    if (result) *result = outcome ? TOPOLOGY_CHANGED : SUCCESS;
    return noted(outcome);
}
#endif
API status cudaGraphUpload(struct graph *executable, void *stream) { return (void)stream, noted(executable ? SUCCESS : INVALID_VALUE); }
API status cudaGraphLaunch(struct graph *executable, void *stream) {
    return noted(executable ? IN_STREAM(stream, run_graph(executable, stream)) : INVALID_VALUE);
}
API status cudaGraphExecDestroy(struct graph *executable) { return cudaGraphDestroy(executable); }
