/* Memory that the program has, and what it puts there and reads back. Every copy is finished before the program goes on. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/beside/beside.h"

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static struct noted *known;
static size_t count, room;

status cuCtxSynchronize(void);
status cuStreamIsCapturing(void *stream, int *state);

void unrecorded(const char *name) { fprintf(stderr, "warploom: %s is not recorded; a replay will differ\n", name); }

void finish_all(void) { REAL(cuCtxSynchronize)(); } /* an error of a kernel stays, and is the program's to find */

int is_captured(void *stream) {
    int state = 0;
    return AS_WORD(stream) > 2 && !REAL(cuStreamIsCapturing)(stream, &state) && state;
}

status noted_allocation(status outcome, word start, word bytes, int kind) {
    if (outcome || !bytes) return outcome;
    pthread_mutex_lock(&list);
    if (count == room) known = realloc(known, (room = 2 * room + 64) * sizeof *known);
    known[count++] = (struct noted){start, bytes, kind};
    pthread_mutex_unlock(&list);
    if (kind != VARIABLE_MEMORY) ASK(ALLOCATED, NULL, start, bytes, kind);
    return outcome;
}

void forget_allocation(word start) {
    pthread_mutex_lock(&list);
    for (size_t i = 0; i < count; i++)
        if (known[i].start == start) {
            ASK(FREE, NULL, start, known[i].kind);
            known[i] = known[--count];
            break;
        }
    pthread_mutex_unlock(&list);
}

const struct noted *allocation_of(word where) {
    const struct noted *found = NULL;
    pthread_mutex_lock(&list);
    for (size_t i = 0; i < count && !found; i++)
        if (known[i].start <= where && where < known[i].start + known[i].bytes) found = &known[i];
    pthread_mutex_unlock(&list);
    return found;
}

/* Memory that the program reads and writes without calls. */
unsigned host_allocations(struct noted *found, unsigned most) {
    unsigned seen = 0;
    pthread_mutex_lock(&list);
    for (size_t i = 0; i < count && seen < most; i++)
        if (known[i].kind == PINNED_MEMORY || known[i].kind == MANAGED_MEMORY) found[seen++] = known[i];
    pthread_mutex_unlock(&list);
    return seen;
}

/* Rows of the program's memory, sent one after the other. */
void tell_block(int operation, word device, word pitch, word slice, const void *host, word host_pitch, word host_slice, word width,
                word rows, word slices) {
    char *packed = malloc(width * rows * slices + 1), *end = packed;
    for (word z = 0; z < slices; z++)
        for (word y = 0; y < rows; y++, end += width) memcpy(end, (const char *)host + z * host_slice + y * host_pitch, width);
    word given[] = {device, pitch, slice, width, rows, slices};
    ask(operation, 6, given, packed, width * rows * slices, NULL, NULL, 0);
    free(packed);
}

#define ALLOCATES(name, parameters, arguments, bytes, kind) \
    API status name parameters { \
        take_turn(); \
        status outcome = REAL(name) arguments; \
        return in_turn(outcome ? outcome : noted_allocation(outcome, AS_WORD(*where), bytes, kind)); \
    }
ALLOCATES(cuMemAlloc_v2, (address *where, size_t bytes), (where, bytes), bytes, DEVICE_MEMORY)
ALLOCATES(cuMemAllocManaged, (address *where, size_t bytes, unsigned flags), (where, bytes, flags), bytes, MANAGED_MEMORY)
ALLOCATES(cuMemAllocHost_v2, (void **where, size_t bytes), (where, bytes), bytes, PINNED_MEMORY)
ALLOCATES(cuMemHostAlloc, (void **where, size_t bytes, unsigned flags), (where, bytes, flags), bytes, PINNED_MEMORY)
API status cuMemAllocPitch_v2(address *where, size_t *pitch, size_t width, size_t height, unsigned element) {
    take_turn();
    status outcome = REAL(cuMemAllocPitch_v2)(where, pitch, width, height, element);
    return in_turn(outcome ? outcome : noted_allocation(outcome, *where, *pitch * height, DEVICE_MEMORY));
}
/* What a graph allocates is there once it runs, and is not noted. */
API status cuMemAllocAsync(address *where, size_t bytes, void *stream) {
    take_turn();
    status outcome = REAL(cuMemAllocAsync)(where, bytes, stream);
    return in_turn(outcome || is_captured(stream) ? outcome : noted_allocation(outcome, *where, bytes, DEVICE_MEMORY));
}
API status cuMemAllocFromPoolAsync(address *where, size_t bytes, void *pool, void *stream) {
    take_turn();
    status outcome = REAL(cuMemAllocFromPoolAsync)(where, bytes, pool, stream);
    return in_turn(outcome || is_captured(stream) ? outcome : noted_allocation(outcome, *where, bytes, DEVICE_MEMORY));
}
API status cuMemMap(address start, size_t bytes, size_t offset, void *memory, uint64_t flags) {
    return IN_TURN(noted_allocation(REAL(cuMemMap)(start, bytes, offset, memory, flags), start, bytes, DEVICE_MEMORY));
}

#define FREES(name, parameters, arguments, start) \
    API status name parameters { return take_turn(), forget_allocation(start), in_turn(REAL(name) arguments); }
FREES(cuMemFree_v2, (address where), (where), where)
FREES(cuMemFreeHost, (void *where), (where), AS_WORD(where))
FREES(cuMemUnmap, (address where, size_t bytes), (where, bytes), where)
API status cuMemFreeAsync(address where, void *stream) {
    take_turn();
    if (!is_captured(stream)) forget_allocation(where);
    return in_turn(REAL(cuMemFreeAsync)(where, stream));
}
API status cuMemHostRegister_v2(void *where, size_t bytes, unsigned flags) {
    enum { MAPPED = 2 };
    if (flags & MAPPED) unrecorded("cuMemHostRegister for memory that kernels access");
    return REAL(cuMemHostRegister_v2)(where, bytes, flags);
}
