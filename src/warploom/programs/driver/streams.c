/* Streams and events. */
#include <stdlib.h>

#include "driver.h"
#include "graphs.h"

API status cuStreamCreateWithPriority(struct stream **stream, unsigned flags, int priority) {
    status outcome = in_context();
    if (!outcome) *stream = make_stream(flags, priority);
    return outcome;
}
API status cuStreamCreate(struct stream **stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }
API status cuStreamDestroy_v2(struct stream *stream) {
    if (is_default_stream(stream)) return INVALID_HANDLE;
    drop_stream(stream);
    return SUCCESS;
}
API status cuStreamSynchronize(struct stream *stream) {
    status outcome = captured(stream) ? CAPTURE_UNSUPPORTED : in_context();
    return outcome ? outcome : checked(ASK(SYNCHRONIZE, NULL, 0));
}
API status cuStreamQuery(struct stream *stream) { return cuStreamSynchronize(stream); }
API status cuStreamDestroy(struct stream *stream) { return cuStreamDestroy_v2(stream); }
API status cuStreamWaitEvent(struct stream *stream, struct event *event, unsigned flags) {
    (void)flags;
    if (event) join_capture(stream, event);
    return event ? SUCCESS : INVALID_HANDLE;
}
API status cuStreamGetFlags(const struct stream *stream, unsigned *flags) {
    return *flags = is_default_stream(stream) ? 0 : stream->flags, SUCCESS;
}
API status cuStreamGetPriority(const struct stream *stream, int *priority) {
    return *priority = is_default_stream(stream) ? 0 : stream->priority, SUCCESS;
}
API status cuStreamGetId(const struct stream *stream, word *id) {
    return *id = is_default_stream(stream) ? AS_WORD(stream) : stream->number, SUCCESS;
}
API status cuStreamGetDevice(const struct stream *stream, int *device) { return (void)stream, *device = 0, SUCCESS; }
API status cuStreamGetCtx(const struct stream *stream, struct context **context) {
    return (void)stream, *context = current_context(), in_context();
}
API status cuStreamCopyAttributes(struct stream *to, struct stream *from) { return (void)to, (void)from, SUCCESS; }
API status cuStreamSetAttribute(struct stream *stream, int number, const void *value) {
    return (void)stream, (void)number, (void)value, SUCCESS; /* hints */
}
API status cuStreamAddCallback(struct stream *stream, void (*call)(void *, status, void *), void *data, unsigned flags) {
    (void)flags;
    call(stream, cuStreamSynchronize(stream), data);
    return SUCCESS;
}
API status cuStreamIsCapturing(const struct stream *stream, int *state) { return *state = captured(stream) != NULL, SUCCESS; }
API status cuStreamGetCaptureInfo_v2(const struct stream *stream, int *state, word *id, struct graph **graph, struct node ***nodes,
                                     size_t *count) {
    return capture_info(stream, state, id, graph, nodes, count);
}
API status cuStreamGetCaptureInfo_v3(const struct stream *stream, int *state, word *id, struct graph **graph, struct node ***nodes,
                                     const void **edges, size_t *count) {
    if (edges) *edges = NULL;
    return cuStreamGetCaptureInfo_v2(stream, state, id, graph, nodes, count);
}
API status cuStreamGetCaptureInfo(const struct stream *stream, int *state, word *id) {
    return cuStreamGetCaptureInfo_v2(stream, state, id, NULL, NULL, NULL);
}
API status cuThreadExchangeStreamCaptureMode(int *mode) { return *mode = 0, SUCCESS; }

API status cuEventCreate(struct event **event, unsigned flags) {
    (void)flags;
    status outcome = in_context();
    if (!outcome) *event = calloc(1, sizeof **event);
    return outcome;
}
API status cuEventDestroy_v2(struct event *event) {
    if (!event) return INVALID_HANDLE;
    free(event);
    return SUCCESS;
}
API status cuEventDestroy(struct event *event) { return cuEventDestroy_v2(event); }
API status cuEventRecord(struct event *event, void *stream) { return checked(record_event_in(stream, event)); }
API status cuEventRecordWithFlags(struct event *event, void *stream, unsigned flags) {
    return (void)flags, cuEventRecord(event, stream);
}
API status cuEventSynchronize(struct event *event) { return event ? checked(ASK(SYNCHRONIZE, NULL, 0)) : INVALID_HANDLE; }
API status cuEventQuery(struct event *event) { return cuEventSynchronize(event); }
API status cuEventElapsedTime(float *milliseconds, const struct event *start, const struct event *end) {
    return elapsed(milliseconds, start, end);
}
API status cuEventElapsedTime_v2(float *milliseconds, const struct event *start, const struct event *end) {
    return elapsed(milliseconds, start, end);
}
