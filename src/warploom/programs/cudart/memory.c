/* Memory: allocations, arrays, and what is known of a pointer. */
#include <stdlib.h>
#include <string.h>

#include "warploom.h"

enum { PITCH = 512 };

static status obtain(void **address, size_t bytes, int kind) {
    word found = 0;
    if (!address) return noted(INVALID_VALUE);
    status outcome = bytes ? allocate(bytes, kind, &found) : SUCCESS;
    if (!outcome) *address = AS_POINTER(found);
    return noted(outcome);
}

API status cudaMalloc(void **address, size_t bytes) { return obtain(address, bytes, DEVICE_MEMORY); }
API status cudaMallocHost(void **address, size_t bytes) { return obtain(address, bytes, PINNED_MEMORY); }

API status cudaHostAlloc(void **address, size_t bytes, unsigned flags) {
    (void)flags;
    return obtain(address, bytes, PINNED_MEMORY);
}

API status cudaMallocManaged(void **address, size_t bytes, unsigned flags) {
    (void)flags;
    return bytes ? obtain(address, bytes, MANAGED_MEMORY) : noted(INVALID_VALUE);
}

API status cudaMallocAsync(void **address, size_t bytes, void *stream) {
    (void)stream;
    return obtain(address, bytes, DEVICE_MEMORY);
}

API status cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height) {
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return obtain(address, *pitch * height, DEVICE_MEMORY);
}

API status cudaMalloc3D(pitched *result, extent size) {
    size_t pitch = (size.width + PITCH - 1) / PITCH * PITCH;
    void *address = NULL;
    status outcome = obtain(&address, pitch * size.height * size.depth, DEVICE_MEMORY);
    if (!outcome) *result = (pitched){address, pitch, size.width, size.height};
    return outcome;
}

static status give_back(void *address, int kind) { return noted(address ? release(AS_WORD(address), kind) : SUCCESS); }

API status cudaFree(void *address) { return give_back(address, DEVICE_MEMORY); }
API status cudaFreeHost(void *address) { return give_back(address, PINNED_MEMORY); }

API status cudaFreeAsync(void *address, void *stream) {
    return captured(stream) ? SUCCESS : give_back(address, DEVICE_MEMORY); /* a graph uses it again with its next launch */
}

/* Plain memory of the program may be pinned, which changes nothing, but the device cannot reach it. */
API status cudaHostRegister(void *address, size_t bytes, unsigned flags) {
    enum { MAPPED = 2 };
    (void)address, (void)bytes;
    return flags & MAPPED ? noted(NOT_SUPPORTED) : SUCCESS;
}

API status cudaHostUnregister(void *address) {
    (void)address;
    return SUCCESS;
}

struct pointer_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
#if WARPLOOM_CUDART_MAJOR >= 13
    long reserved[8];
#endif
};

API status cudaPointerGetAttributes(struct pointer_attributes *about, const void *address) {
    enum { UNREGISTERED, HOST, DEVICE, MANAGED };
    struct allocation found;
    status outcome = allocation_at(AS_WORD(address), &found);
    memset(about, 0, sizeof *about);
    if (outcome == INVALID_VALUE) { /* the program's own memory */
        about->device = -2;
        about->host_pointer = (void *)address;
        return SUCCESS;
    }
    if (outcome) return noted(outcome);
    about->type = found.kind == PINNED_MEMORY ? HOST : found.kind == MANAGED_MEMORY ? MANAGED : DEVICE;
    about->device_pointer = (void *)address;
    if (about->type != DEVICE) about->host_pointer = (void *)address;
    return SUCCESS;
}

API status cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    struct allocation found;
    (void)flags;
    status outcome = allocation_at(AS_WORD(host), &found);
    if (!outcome) *device = host;
    return noted(outcome);
}

API status cudaHostGetFlags(unsigned *flags, void *host) {
    void *same;
    *flags = 2; /* mapped: what is pinned is the device's too */
    return cudaHostGetDevicePointer(&same, host, 0);
}

API status cudaMemGetInfo(size_t *available, size_t *total) {
    word answer[ANSWER_WORDS];
    status outcome = ASK(MEMORY_INFO, answer, 0);
    if (!outcome) {
        *available = answer[0];
        *total = answer[1];
    }
    return noted(outcome);
}

/* Where managed memory lies is the simulator's affair. */
API status cudaMemPrefetchAsync(void) { return SUCCESS; }
API status cudaMemAdvise(void) { return SUCCESS; }
API status cudaStreamAttachMemAsync(void) { return SUCCESS; }

API channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return (channels){{x, y, z, w}, kind}; }

API status cudaMalloc3DArray(struct array **result, const channels *format, extent size, unsigned flags) {
    struct array *array = calloc(1, sizeof *array);
    enum { CUBEMAP = 4 };
    array->texel = (format->bits[0] + format->bits[1] + format->bits[2] + format->bits[3]) / 8;
    array->format = *format;
    array->size = size;
    array->flags = flags;
    word bytes = array->texel * size.width * (size.height ? size.height : 1) * (size.depth ? size.depth : 1);
    status outcome = flags & CUBEMAP ? NOT_SUPPORTED : !bytes ? INVALID_VALUE : SUCCESS;
    if (!outcome) outcome = allocate(bytes, ARRAY_MEMORY, &array->address);
    if (outcome) {
        free(array);
        return noted(outcome);
    }
    *result = array;
    return SUCCESS;
}

API status cudaMallocArray(struct array **result, const channels *format, size_t width, size_t height, unsigned flags) {
    return cudaMalloc3DArray(result, format, (extent){width, height, 0}, flags);
}

API status cudaFreeArray(struct array *array) {
    if (!array) return SUCCESS;
    status outcome = release(array->address, ARRAY_MEMORY);
    free(array);
    return noted(outcome);
}

API status cudaArrayGetInfo(channels *format, extent *size, unsigned *flags, struct array *array) {
    if (format) *format = array->format;
    if (size) *size = array->size;
    if (flags) *flags = array->flags;
    return SUCCESS;
}

API status cudaGetChannelDesc(channels *format, const struct array *array) {
    *format = array->format;
    return SUCCESS;
}
