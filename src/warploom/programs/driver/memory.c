/* Memory: allocations of all kinds, pools, and what is known of a pointer. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { PITCH = 512 };

static status obtain(address *where, size_t bytes, int kind) {
    status outcome = in_context();
    if (outcome) return outcome;
    if (!where || !bytes) return INVALID_VALUE;
    return allocate(bytes, kind, where);
}

API status cuMemAlloc_v2(address *where, size_t bytes) { return obtain(where, bytes, DEVICE_MEMORY); }
API status cuMemAllocPitch_v2(address *where, size_t *pitch, size_t width, size_t height, unsigned element) {
    if (element != 4 && element != 8 && element != 16) return INVALID_VALUE;
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return obtain(where, *pitch * height, DEVICE_MEMORY);
}
API status cuMemAllocManaged(address *where, size_t bytes, unsigned flags) { return (void)flags, obtain(where, bytes, MANAGED_MEMORY); }
API status cuMemFree_v2(address where) { return where ? release(where, DEVICE_MEMORY) : SUCCESS; }
API status cuMemAllocHost_v2(void **where, size_t bytes) { return obtain((address *)where, bytes, PINNED_MEMORY); }
API status cuMemHostAlloc(void **where, size_t bytes, unsigned flags) { return (void)flags, cuMemAllocHost_v2(where, bytes); }
API status cuMemFreeHost(void *where) { return where ? release(AS_WORD(where), PINNED_MEMORY) : SUCCESS; }

API status cuMemGetInfo_v2(size_t *available, size_t *total) {
    word answer[ANSWER_WORDS];
    status outcome = ASK(MEMORY_INFO, answer, 0);
    if (outcome) return outcome;
    *available = answer[0];
    *total = answer[1];
    return SUCCESS;
}
API status cuMemGetAddressRange_v2(address *start, size_t *bytes, address where) {
    struct allocation found;
    if (allocation_at(where, &found)) return NOT_FOUND;
    if (start) *start = found.start;
    if (bytes) *bytes = found.bytes;
    return SUCCESS;
}

/* Plain memory of the program may be pinned, which changes nothing, but the device cannot reach it. */
API status cuMemHostRegister_v2(void *where, size_t bytes, unsigned flags) {
    enum { MAPPED = 2 };
    static int said;
    (void)where, (void)bytes;
    return flags & MAPPED ? missing("cuMemHostRegister for memory that kernels access", &said) : SUCCESS;
}
API status cuMemHostUnregister(void *where) { return (void)where, SUCCESS; }
API status cuMemHostGetDevicePointer_v2(address *device, void *host, unsigned flags) {
    struct allocation found;
    (void)flags;
    if (allocation_at(AS_WORD(host), &found)) return INVALID_VALUE;
    *device = AS_WORD(host);
    return SUCCESS;
}
API status cuMemHostGetFlags(unsigned *flags, void *host) {
    address same;
    *flags = 2; /* mapped: what is pinned is the device's too */
    return cuMemHostGetDevicePointer_v2(&same, host, 0);
}

/* Where managed memory lies is the simulator's affair. */
API status cuMemAdvise(void) { return SUCCESS; }
API status cuMemAdvise_v2(void) { return SUCCESS; }
API status cuMemPrefetchAsync(void) { return SUCCESS; }
API status cuMemPrefetchAsync_v2(void) { return SUCCESS; }
API status cuStreamAttachMemAsync(void) { return SUCCESS; }

/* Pools are names for device memory; each keeps what is set for it. */
enum { POOL_ATTRIBUTES = 16, RELEASE_THRESHOLD = 4 };
struct pool { word values[POOL_ATTRIBUTES]; };
static struct pool usual = {{0, 1, 1, 1}}, *chosen = &usual;

API status cuDeviceGetDefaultMemPool(struct pool **pool, int device) { return device ? INVALID_DEVICE : (*pool = &usual, SUCCESS); }
API status cuDeviceGetMemPool(struct pool **pool, int device) { return device ? INVALID_DEVICE : (*pool = chosen, SUCCESS); }
API status cuDeviceSetMemPool(int device, struct pool *pool) { return device ? INVALID_DEVICE : (chosen = pool, SUCCESS); }
API status cuMemPoolCreate(struct pool **pool, const void *properties) {
    (void)properties;
    *pool = malloc(sizeof **pool);
    **pool = usual;
    return SUCCESS;
}
API status cuMemPoolDestroy(struct pool *pool) {
    if (pool == &usual) return INVALID_VALUE;
    if (pool == chosen) chosen = &usual;
    free(pool);
    return SUCCESS;
}
static size_t width_of(int number) { return number < RELEASE_THRESHOLD ? sizeof(int) : sizeof(word); }
API status cuMemPoolSetAttribute(struct pool *pool, int number, const void *value) {
    if (!pool || number < 1 || number >= POOL_ATTRIBUTES) return INVALID_VALUE;
    pool->values[number] = 0;
    memcpy(&pool->values[number], value, width_of(number));
    return SUCCESS;
}
API status cuMemPoolGetAttribute(const struct pool *pool, int number, void *value) {
    if (!pool || number < 1 || number >= POOL_ATTRIBUTES) return INVALID_VALUE;
    memcpy(value, &pool->values[number], width_of(number));
    return SUCCESS;
}
API status cuMemGetDefaultMemPool(struct pool **pool, const void *where, int type) {
    return (void)where, (void)type, cuDeviceGetDefaultMemPool(pool, 0);
}
API status cuMemGetMemPool(struct pool **pool, const void *where, int type) { return (void)where, (void)type, cuDeviceGetMemPool(pool, 0); }
API status cuMemSetMemPool(const void *where, int type, struct pool *pool) { return (void)where, (void)type, cuDeviceSetMemPool(0, pool); }
API status cuMemPoolGetAccess(int *flags, const struct pool *pool, const void *where) {
    return (void)pool, (void)where, *flags = 3, SUCCESS; /* read and write */
}
API status cuMemPoolTrimTo(struct pool *pool, size_t bytes) { return (void)pool, (void)bytes, SUCCESS; }
API status cuMemPoolSetAccess(struct pool *pool, const void *access, size_t count) {
    return (void)pool, (void)access, (void)count, SUCCESS;
}
API status cuMemAllocAsync(address *where, size_t bytes, void *stream) { return (void)stream, cuMemAlloc_v2(where, bytes); }
API status cuMemAllocFromPoolAsync(address *where, size_t bytes, struct pool *pool, void *stream) {
    return (void)pool, (void)stream, cuMemAlloc_v2(where, bytes);
}
API status cuMemFreeAsync(address where, void *stream) {
    return captured(stream) ? SUCCESS : cuMemFree_v2(where); /* a graph uses it again with its next launch */
}

/* One thing that is known of a pointer; for pointers of the program's own an error. */
API status cuPointerGetAttribute(void *value, int number, address where) {
    enum { CONTEXT = 1, MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER, TOKENS, SYNC, NUMBER, MANAGED, ORDINAL, LEGACY, START, BYTES, MAPPED,
           HANDLES, RDMA, ACCESS, POOL };
    enum { HOST = 1, DEVICE = 2, READ_AND_WRITE = 3 };
    struct allocation found;
    if (!value || allocation_at(where, &found)) return INVALID_VALUE;
    int on_host = found.kind == PINNED_MEMORY, seen = on_host || found.kind == MANAGED_MEMORY;
    switch (number) {
    case CONTEXT: *(struct context **)value = primary_context(); break;
    case MEMORY_TYPE: *(unsigned *)value = on_host ? HOST : DEVICE; break;
    case DEVICE_POINTER: *(address *)value = where; break;
    case HOST_POINTER:
        if (!seen) return INVALID_VALUE;
        *(address *)value = where;
        break;
    case SYNC: *(int *)value = 1; break;
    case NUMBER: *(word *)value = found.number; break;
    case MANAGED: *(int *)value = found.kind == MANAGED_MEMORY; break;
    case ORDINAL: *(int *)value = 0; break;
    case START: *(address *)value = found.start; break;
    case BYTES: *(size_t *)value = found.bytes; break;
    case MAPPED: *(int *)value = 1; break;
    case LEGACY:
    case RDMA: *(int *)value = 0; break;
    case HANDLES: *(word *)value = 0; break;
    case ACCESS: *(unsigned *)value = READ_AND_WRITE; break;
    case POOL: *(void **)value = NULL; break;
    default: return INVALID_VALUE;
    }
    return SUCCESS;
}

/* Several at once: for pointers of the program's own, nothing of each. */
API status cuPointerGetAttributes(unsigned count, const int *numbers, void **values, address where) {
    enum { ORDINAL = 9, NO_DEVICE_AT_ALL = -2 };
    static const unsigned char widths[] = {0, 8, 4, 8, 8, 16, 4, 8, 4, 4, 4, 8, 8, 4, 8, 4, 4, 8};
    for (unsigned i = 0; i < count; i++) {
        if (numbers[i] < 1 || numbers[i] >= (int)sizeof widths) return INVALID_VALUE;
        if (!cuPointerGetAttribute(values[i], numbers[i], where)) continue;
        memset(values[i], 0, widths[numbers[i]]);
        if (numbers[i] == ORDINAL) *(int *)values[i] = NO_DEVICE_AT_ALL;
    }
    return SUCCESS;
}
API status cuPointerSetAttribute(const void *value, int number, address where) {
    struct allocation found;
    (void)value, (void)number; /* copies are synchronous as it is */
    return allocation_at(where, &found) ? INVALID_VALUE : SUCCESS;
}
