/* The device, its streams and its events. All work is done when it is asked for, so that streams are always at their end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warploom.h"

API status cudaDeviceSynchronize(void) { return noted(ASK(SYNCHRONIZE, NULL, 0)); }
API status cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
API status cudaDeviceReset(void) { return cudaDeviceSynchronize(); }
API status cudaThreadExit(void) { return cudaDeviceSynchronize(); }

void do_without_cudnn(void);

API status cudaGetDeviceCount(int *count) {
    do_without_cudnn();
    *count = 1;
    return SUCCESS;
}
API status cudaGetDevice(int *device) {
    *device = 0;
    return SUCCESS;
}
API status cudaSetDevice(int device) { return noted(only_device(device)); }
API status cudaInitDevice(int device, unsigned flags, unsigned more) { return (void)flags, (void)more, cudaSetDevice(device); }
API status cudaSetValidDevices(int *devices, int count) { return (void)devices, (void)count, SUCCESS; }
API status cudaChooseDevice(int *device, const void *wanted) { return (void)wanted, cudaGetDevice(device); }
API status cudaSetDeviceFlags(unsigned flags) { return (void)flags, SUCCESS; }
API status cudaGetDeviceFlags(unsigned *flags) { return *flags = 8, SUCCESS; }
API status cudaDeviceSetCacheConfig(int preference) { return (void)preference, SUCCESS; }
API status cudaDeviceGetCacheConfig(int *preference) { return *preference = 0, SUCCESS; }
API status cudaDeviceSetSharedMemConfig(int preference) { return (void)preference, SUCCESS; }
API status cudaDeviceGetSharedMemConfig(int *preference) { return *preference = 1, SUCCESS; }
API status cudaThreadSetCacheConfig(int preference) { return (void)preference, SUCCESS; }
API status cudaProfilerStart(void) { return SUCCESS; }
API status cudaProfilerStop(void) { return SUCCESS; }
API status cudaDeviceCanAccessPeer(int *can, int device, int peer) { return (void)device, (void)peer, *can = 0, SUCCESS; }
API status cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return SUCCESS;
}
API status cudaDeviceGetPCIBusId(char *id, int bytes, int device) {
    snprintf(id, bytes, "0000:00:00.0");
    return cudaSetDevice(device);
}

API status cudaDeviceSetLimit(unsigned limit, size_t value) { return noted(set_limit(limit, value)); }
API status cudaDeviceGetLimit(size_t *value, unsigned limit) { return noted(get_limit(limit, (word *)value)); }

enum { VERSION = WARPLOOM_CUDART_MAJOR == 11 ? 11080 : WARPLOOM_CUDART_MAJOR == 12 ? 12090 : 13000 };
API status cudaRuntimeGetVersion(int *version) { return *version = VERSION, SUCCESS; }
API status cudaDriverGetVersion(int *version) { return *version = VERSION, SUCCESS; }

static status properties(void *into, int device, word version) {
    enum { LARGEST = 2048 };
    char whole[LARGEST];
    word answer[ANSWER_WORDS];
    if (device) return noted(INVALID_DEVICE);
    status outcome = ask(PROPERTIES, 1, &version, NULL, 0, answer, whole, sizeof whole);
    if (!outcome) memcpy(into, whole, answer[0]);
    return noted(outcome);
}
API status cudaGetDeviceProperties_v2(void *into, int device) { return properties(into, device, WARPLOOM_CUDART_MAJOR); }
API status cudaGetDeviceProperties(void *into, int device) {
    return properties(into, device, WARPLOOM_CUDART_MAJOR == 12 ? 11 : WARPLOOM_CUDART_MAJOR); /* in 12 it kept its old shape */
}
API status cudaDeviceGetAttribute(int *value, int number, int device) {
    return noted(device ? INVALID_DEVICE : attribute(number, value));
}

API status cudaStreamCreateWithPriority(struct stream **stream, unsigned flags, int priority) {
    return *stream = make_stream(flags, priority), noted(SUCCESS);
}
API status cudaStreamCreateWithFlags(struct stream **stream, unsigned flags) { return cudaStreamCreateWithPriority(stream, flags, 0); }
API status cudaStreamCreate(struct stream **stream) { return cudaStreamCreateWithFlags(stream, 0); }
API status cudaStreamDestroy(struct stream *stream) {
    if (is_default_stream(stream)) return noted(INVALID_HANDLE);
    drop_stream(stream);
    return SUCCESS;
}
API status cudaStreamSynchronize(void *stream) {
    enum { CAPTURE_UNSUPPORTED = 900 };
    return captured(stream) ? noted(CAPTURE_UNSUPPORTED) : cudaDeviceSynchronize();
}
API status cudaStreamQuery(void *stream) { return (void)stream, cudaDeviceSynchronize(); }
API status cudaStreamWaitEvent(struct stream *stream, struct event *event, unsigned flags) {
    (void)flags;
    if (event) join_capture(stream, event);
    return SUCCESS;
}
API status cudaStreamGetFlags(const struct stream *stream, unsigned *flags) {
    return *flags = is_default_stream(stream) ? 0 : stream->flags, SUCCESS;
}
API status cudaStreamGetPriority(const struct stream *stream, int *priority) {
    return *priority = is_default_stream(stream) ? 0 : stream->priority, SUCCESS;
}
API status cudaStreamAddCallback(void *stream, void (*call)(void *, status, void *), void *data, unsigned flags) {
    (void)flags;
    call(stream, cudaDeviceSynchronize(), data);
    return SUCCESS;
}

API status cudaEventCreateWithFlags(struct event **event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof **event);
    return SUCCESS;
}
API status cudaEventCreate(struct event **event) { return cudaEventCreateWithFlags(event, 0); }
API status cudaEventDestroy(struct event *event) {
    if (!event) return noted(INVALID_HANDLE);
    free(event);
    return SUCCESS;
}
API status cudaEventRecordWithFlags(struct event *event, void *stream, unsigned flags) {
    return (void)flags, noted(record_event_in(stream, event));
}
API status cudaEventRecord(struct event *event, void *stream) { return cudaEventRecordWithFlags(event, stream, 0); }
API status cudaEventSynchronize(struct event *event) { return event ? cudaDeviceSynchronize() : noted(INVALID_HANDLE); }
API status cudaEventQuery(struct event *event) { return cudaEventSynchronize(event); }
API status cudaEventElapsedTime(float *milliseconds, const struct event *start, const struct event *end) {
    return noted(elapsed(milliseconds, start, end));
}
API status cudaEventElapsedTime_v2(float *milliseconds, const struct event *start, const struct event *end) {
    return cudaEventElapsedTime(milliseconds, start, end);
}
