/* Launches, in all the ways that programs write them, and what can be asked about a kernel. */
#include <string.h>

#include "driver.h"

struct configuration {
    dim3 grid, block;
    unsigned shared;
    void *stream;
    struct launch_attribute *attributes;
    unsigned count;
};

/* Instead of arguments one by one, all parameters in a buffer: pairs of what follows and its address. */
static status launch_buffer(struct kernel *kernel, const struct shape *shape, void **extra) {
    enum { END, BUFFER, SIZE };
    const void *buffer = NULL;
    size_t bytes = 0;
    for (; AS_WORD(extra[0]) != END; extra += 2) {
        if (AS_WORD(extra[0]) == BUFFER) buffer = extra[1];
        else if (AS_WORD(extra[0]) == SIZE) bytes = *(size_t *)extra[1];
        else return INVALID_VALUE;
    }
    status outcome = know(kernel);
    if (outcome) return outcome;
    if (bytes > MOST_PARAMETER_BYTES || bytes < kernel->bytes) return INVALID_VALUE; /* padding may follow the last */
    return launch_packed(kernel, shape, buffer, kernel->bytes);
}

static status start(struct kernel *kernel, const struct shape *shape, void **arguments, void **extra) {
    status outcome = in_context();
    if (outcome) return outcome;
    if (!kernel) return INVALID_HANDLE;
    return checked(extra && !arguments ? launch_buffer(kernel, shape, extra) : launch(kernel, shape, arguments));
}

API status cuLaunchKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **arguments, void **extra) {
    struct shape shape = {{gx, gy, gz}, {bx, by, bz}, {0, 0, 0}, shared, stream, 0};
    return start(kernel, &shape, arguments, extra);
}

API status cuLaunchCooperativeKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                     unsigned shared, void *stream, void **arguments) {
    struct shape shape = {{gx, gy, gz}, {bx, by, bz}, {0, 0, 0}, shared, stream, 1};
    return start(kernel, &shape, arguments, NULL);
}

API status cuLaunchKernelEx(const struct configuration *how, struct kernel *kernel, void **arguments, void **extra) {
    struct shape shape = {how->grid, how->block, {0, 0, 0}, how->shared, how->stream, 0};
    read_attributes(&shape, how->attributes, how->count);
    return start(kernel, &shape, arguments, extra);
}

API status cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    return IN_STREAM(stream, call_on_host(function, data));
}

enum {
    MOST_THREADS, SHARED_BYTES, CONSTANT_BYTES, LOCAL_BYTES, REGISTERS, PTX, BINARY, CACHE, MOST_DYNAMIC, CARVEOUT, CLUSTER_REQUIRED,
    CLUSTER_WIDTH, CLUSTER_HEIGHT, CLUSTER_DEPTH, LARGE_CLUSTERS, CLUSTER_SCHEDULING
};

static status about(struct kernel *kernel, word answer[ANSWER_WORDS]) {
    status outcome = kernel ? know(kernel) : INVALID_HANDLE;
    return outcome ? checked(outcome) : checked(ASK(FUNCTION, answer, kernel->number));
}

API status cuFuncGetAttribute(int *value, int number, struct kernel *kernel) {
    word answer[ANSWER_WORDS];
    if (number < MOST_THREADS || number > CLUSTER_SCHEDULING) return INVALID_VALUE;
    status outcome = about(kernel, answer);
    if (outcome) return outcome;
    word values[] = {answer[4], answer[1], answer[2], answer[3], answer[0], answer[5], answer[5], 0, answer[6], -1};
    if (number == MOST_DYNAMIC && kernel->dynamic) *value = kernel->dynamic;
    else *value = number < CLUSTER_REQUIRED ? (int)values[number] : 0;
    return SUCCESS;
}
API status cuFuncSetAttribute(struct kernel *kernel, int number, int value) {
    enum { MOST_SHARED = 97 };
    word answer[ANSWER_WORDS];
    int most;
    if (number != MOST_DYNAMIC) return kernel ? SUCCESS : INVALID_HANDLE; /* hints */
    status outcome = about(kernel, answer);
    if (!outcome) outcome = attribute(MOST_SHARED, &most);
    if (outcome) return outcome;
    if (value < 0 || value + (int)answer[1] > most) return INVALID_VALUE;
    kernel->dynamic = value;
    return SUCCESS;
}
API status cuFuncSetCacheConfig(struct kernel *kernel, int preference) { return (void)preference, kernel ? SUCCESS : INVALID_HANDLE; }
API status cuFuncSetSharedMemConfig(struct kernel *kernel, int preference) { return cuFuncSetCacheConfig(kernel, preference); }
API status cuKernelGetAttribute(int *value, int number, struct kernel *kernel, int device) {
    return device ? INVALID_DEVICE : cuFuncGetAttribute(value, number, kernel);
}
API status cuKernelSetAttribute(int number, int value, struct kernel *kernel, int device) {
    return device ? INVALID_DEVICE : cuFuncSetAttribute(kernel, number, value);
}
API status cuKernelSetCacheConfig(struct kernel *kernel, int preference, int device) {
    return device ? INVALID_DEVICE : cuFuncSetCacheConfig(kernel, preference);
}

API status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, struct kernel *kernel, int threads, size_t shared,
                                                                unsigned flags) {
    word answer[ANSWER_WORDS];
    (void)flags;
    if (!kernel) return INVALID_HANDLE;
    if (threads <= 0) return INVALID_VALUE;
    status outcome = know(kernel);
    if (!outcome) outcome = ASK(OCCUPANCY, answer, kernel->number, threads, shared);
    if (!outcome) *blocks = answer[0];
    return checked(outcome);
}
API status cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct kernel *kernel, int threads, size_t shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared, 0);
}

/* The block with which the most threads are resident, the largest of equals. */
API status cuOccupancyMaxPotentialBlockSizeWithFlags(int *least_grid, int *best_block, struct kernel *kernel,
                                                     size_t (*shared_of)(int), size_t shared, int limit, unsigned flags) {
    enum { WARP = 32, PROCESSORS = 16 };
    int most, processors, best = 0;
    status outcome = cuFuncGetAttribute(&most, MOST_THREADS, kernel);
    if (!outcome) outcome = attribute(PROCESSORS, &processors);
    if (limit > 0 && limit < most) most = limit;
    for (int threads = most / WARP * WARP; !outcome && threads > 0; threads -= WARP) {
        int blocks = 0;
        size_t bytes = shared_of ? shared_of(threads) : shared;
        outcome = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kernel, threads, bytes, flags);
        if (blocks * threads <= best) continue;
        best = blocks * threads;
        *best_block = threads;
        *least_grid = blocks * processors;
    }
    return outcome;
}
API status cuOccupancyMaxPotentialBlockSize(int *least_grid, int *best_block, struct kernel *kernel, size_t (*shared_of)(int),
                                            size_t shared, int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(least_grid, best_block, kernel, shared_of, shared, limit, 0);
}

/* What a block may have of an SM's shared memory so that so many are resident. */
API status cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, struct kernel *kernel, int blocks, int threads) {
    enum { IN_PROCESSOR = 81, MOST_SHARED = 97, RESERVED = 111, UNIT = 128 };
    int whole, most, reserved;
    word answer[ANSWER_WORDS];
    if (!bytes || blocks < 1 || threads < 1) return INVALID_VALUE;
    status outcome = about(kernel, answer);
    if (!outcome) outcome = attribute(IN_PROCESSOR, &whole);
    if (!outcome) outcome = attribute(MOST_SHARED, &most);
    if (!outcome) outcome = attribute(RESERVED, &reserved);
    if (outcome) return outcome;
    int each = whole / blocks / UNIT * UNIT - reserved;
    if (each > most) each = most;
    *bytes = each > (int)answer[1] ? each - answer[1] : 0;
    return SUCCESS;
}

/* Clusters are taken to fill the device without gaps; on hardware each lies within one group of SMs. */
API status cuOccupancyMaxActiveClusters(int *clusters, struct kernel *kernel, const struct configuration *how) {
    enum { PROCESSORS = 16 };
    struct shape shape = {how->grid, how->block, {0, 0, 0}, how->shared, how->stream, 0};
    int blocks, processors;
    read_attributes(&shape, how->attributes, how->count);
    word size = shape.cluster.x ? (word)shape.cluster.x * shape.cluster.y * shape.cluster.z : 1;
    int threads = how->block.x * how->block.y * how->block.z;
    status outcome = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, how->shared);
    if (!outcome) outcome = attribute(PROCESSORS, &processors);
    if (!outcome) *clusters = (int)((word)blocks * processors / size);
    return outcome;
}
API status cuOccupancyMaxPotentialClusterSize(int *size, struct kernel *kernel, const struct configuration *how) {
    enum { PORTABLE = 8 };
    int clusters;
    status outcome = cuOccupancyMaxActiveClusters(&clusters, kernel, how);
    if (!outcome) *size = PORTABLE;
    return outcome;
}
