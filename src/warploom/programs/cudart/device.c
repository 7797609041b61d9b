/* The device, its streams and its events. All work is done when it is asked for, so that streams are always at their end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warploom.h"

API status cudaDeviceSynchronize(void) { return noted(ASK(SYNCHRONIZE, NULL, 0)); }
API status cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
API status cudaDeviceReset(void) { return cudaDeviceSynchronize(); }
API status cudaThreadExit(void) { return cudaDeviceSynchronize(); }

API status cudaGetDeviceCount(int *count) {
    *count = 1;
    return SUCCESS;
}
API status cudaGetDevice(int *device) {
    *device = 0;
    return SUCCESS;
}
API status cudaSetDevice(int device) { return device ? noted(INVALID_DEVICE) : SUCCESS; }
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

static size_t limits[7] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
API status cudaDeviceSetLimit(unsigned limit, size_t value) {
    if (limit >= 7) return noted(INVALID_VALUE);
    status outcome = ask(LIMIT, 2, (word[]){limit, value}, NULL, 0, NULL, NULL, 0);
    if (!outcome) limits[limit] = value;
    return noted(outcome);
}
API status cudaDeviceGetLimit(size_t *value, unsigned limit) {
    if (limit >= 7) return noted(INVALID_VALUE);
    *value = limits[limit];
    return SUCCESS;
}

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
API status cudaDeviceGetAttribute(int *value, int attribute, int device) {
    word answer[ANSWER_WORDS];
    if (device) return noted(INVALID_DEVICE);
    status outcome = ASK(ATTRIBUTE, answer, attribute);
    if (!outcome) *value = (int)answer[0];
    return noted(outcome);
}

/* A stream is a number; 0, 1 and 2 are CUDA's default streams. */
API status cudaStreamCreate(void **stream) {
    static uintptr_t next = 16;
    *stream = (void *)__atomic_fetch_add(&next, 16, __ATOMIC_RELAXED);
    return SUCCESS;
}
API status cudaStreamCreateWithFlags(void **stream, unsigned flags) { return (void)flags, cudaStreamCreate(stream); }
API status cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    return (void)flags, (void)priority, cudaStreamCreate(stream);
}
API status cudaStreamDestroy(void *stream) { return stream ? SUCCESS : noted(INVALID_HANDLE); }
API status cudaStreamSynchronize(void *stream) { return (void)stream, cudaDeviceSynchronize(); }
API status cudaStreamQuery(void *stream) { return (void)stream, cudaDeviceSynchronize(); }
API status cudaStreamWaitEvent(void *stream, void *event, unsigned flags) { return (void)stream, (void)event, (void)flags, SUCCESS; }
API status cudaStreamGetFlags(void *stream, unsigned *flags) { return (void)stream, *flags = 0, SUCCESS; }
API status cudaStreamGetPriority(void *stream, int *priority) { return (void)stream, *priority = 0, SUCCESS; }
API status cudaStreamIsCapturing(void *stream, int *is) { return (void)stream, *is = 0, SUCCESS; }
API status cudaStreamAddCallback(void *stream, void (*call)(void *, status, void *), void *data, unsigned flags) {
    (void)flags;
    call(stream, cudaDeviceSynchronize(), data);
    return SUCCESS;
}

struct event { word nanoseconds; int recorded; };
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
    word answer[ANSWER_WORDS];
    (void)stream, (void)flags;
    if (!event) return noted(INVALID_HANDLE);
    status outcome = ASK(EVENT, answer, 0);
    if (outcome) return noted(outcome);
    event->nanoseconds = answer[0];
    event->recorded = 1;
    return SUCCESS;
}
API status cudaEventRecord(struct event *event, void *stream) { return cudaEventRecordWithFlags(event, stream, 0); }
API status cudaEventSynchronize(struct event *event) { return event ? cudaDeviceSynchronize() : noted(INVALID_HANDLE); }
API status cudaEventQuery(struct event *event) { return cudaEventSynchronize(event); }
API status cudaEventElapsedTime(float *milliseconds, const struct event *start, const struct event *end) {
    if (!start || !end || !start->recorded || !end->recorded) return noted(INVALID_HANDLE);
    *milliseconds = (float)((double)(int64_t)(end->nanoseconds - start->nanoseconds) * 1e-6);
    return SUCCESS;
}
API status cudaEventElapsedTime_v2(float *milliseconds, const struct event *start, const struct event *end) {
    return cudaEventElapsedTime(milliseconds, start, end);
}
