/* Launches, in all the ways that compilers write them, and what can be asked about a kernel. */
#include <stdlib.h>
#include <string.h>

#include "warploom.h"

struct configuration { dim3 grid, block; size_t shared; void *stream; };
enum { DEEPEST = 64 };

static _Thread_local struct configuration pushed[DEEPEST];
static _Thread_local unsigned depth;

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
    if (depth == DEEPEST) return noted(MISSING_CONFIGURATION);
    pushed[depth++] = (struct configuration){grid, block, shared, stream};
    return SUCCESS;
}

API status __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (!depth) return noted(MISSING_CONFIGURATION);
    struct configuration *top = &pushed[--depth];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    *(void **)stream = top->stream;
    return SUCCESS;
}

static status start(struct kernel *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream, int cooperative) {
    struct shape shape = {grid, block, {0, 0, 0}, shared, stream, cooperative};
    return noted(kernel ? launch(kernel, &shape, arguments) : INVALID_FUNCTION);
}

API status cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    return start(find_kernel(host), grid, block, arguments, shared, stream, 0);
}

API status cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    return start(find_kernel(host), grid, block, arguments, shared, stream, 1);
}

API status __cudaGetKernel(struct kernel **kernel, const void *host) {
    *kernel = find_kernel(host);
    return *kernel ? SUCCESS : INVALID_FUNCTION;
}

API status cudaGetKernel(struct kernel **kernel, const void *host) { return noted(__cudaGetKernel(kernel, host)); }

API status cudaGetFuncBySymbol(struct kernel **kernel, const void *host) { return noted(__cudaGetKernel(kernel, host)); }

API status __cudaLaunchKernel(struct kernel *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    return start(kernel, grid, block, arguments, shared, stream, 0);
}

API status cudaLaunchKernelExC(const struct launch_configuration *how, const void *host, void **arguments) {
    struct kernel *kernel = find_kernel(host);
    struct shape shape = {how->grid, how->block, {0, 0, 0}, how->shared, how->stream, 0};
    if (!kernel) return noted(INVALID_FUNCTION);
    read_attributes(&shape, how->attributes, how->count);
    return noted(launch(kernel, &shape, arguments));
}

API status cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    return noted(IN_STREAM(stream, call_on_host(function, data)));
}

struct function_attributes {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache, dynamic, carveout;
#if WARPLOOM_CUDART_MAJOR >= 12
    int cluster[6], reserved[16];
#endif
};

API status cudaFuncGetAttributes(struct function_attributes *about, const void *host) {
    struct kernel *kernel = find_kernel(host);
    word answer[ANSWER_WORDS];
    if (!kernel) return noted(INVALID_FUNCTION);
    status outcome = know(kernel);
    if (!outcome) outcome = ASK(FUNCTION, answer, kernel->number);
    if (outcome) return noted(outcome);
    memset(about, 0, sizeof *about);
    about->registers = answer[0];
    about->shared = answer[1];
    about->constant = answer[2];
    about->local = answer[3];
    about->threads = answer[4];
    about->ptx = about->binary = answer[5];
    about->dynamic = answer[6];
    return SUCCESS;
}

API status cudaFuncSetAttribute(const void *host, int attribute, int value) {
    (void)attribute, (void)value; /* how much dynamic shared memory it may have, and hints */
    return find_kernel(host) ? SUCCESS : noted(INVALID_FUNCTION);
}

API status cudaFuncSetCacheConfig(const void *host, int preference) { return cudaFuncSetAttribute(host, 0, preference); }

API status cudaFuncSetSharedMemConfig(const void *host, int preference) { return cudaFuncSetAttribute(host, 0, preference); }

API status cudaFuncGetName(const char **name, const void *host) {
    struct kernel *kernel = find_kernel(host);
    if (!kernel) return noted(INVALID_FUNCTION);
    *name = kernel->name;
    return SUCCESS;
}

API status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads, size_t shared,
                                                                  unsigned flags) {
    struct kernel *kernel = find_kernel(host);
    word answer[ANSWER_WORDS];
    (void)flags;
    if (!kernel) return noted(INVALID_FUNCTION);
    if (threads <= 0) return noted(INVALID_VALUE);
    status outcome = know(kernel);
    if (!outcome) outcome = ASK(OCCUPANCY, answer, kernel->number, threads, shared);
    if (!outcome) *blocks = answer[0];
    return noted(outcome);
}

API status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}
