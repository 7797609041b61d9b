/* Launches, in all the ways that compilers write them, and what can be asked about a kernel. */
#include <stdlib.h>
#include <string.h>

#include "warploom.h"

struct configuration { dim3 grid, block; size_t shared; void *stream; };
enum { COOPERATIVE = 2, CLUSTER_DIMENSION = 4, DEEPEST = 64 };

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

/* Whether nothing can be wrong with a launch's shape, so that the program need not wait to hear of it. */
static int is_plain(dim3 grid, dim3 block, size_t shared) {
    enum { USUAL_SHARED = 48 << 10, MOST_THREADS = 1024, MOST_LAYERS = 64, MOST_BLOCKS = 65535 };
    word threads = (word)block.x * block.y * block.z;
    return threads && threads <= MOST_THREADS && block.z <= MOST_LAYERS && grid.x && grid.x <= INT32_MAX && grid.y && grid.z &&
           grid.y <= MOST_BLOCKS && grid.z <= MOST_BLOCKS && shared <= USUAL_SHARED;
}

static status launch(struct kernel *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream, int cooperative) {
    char space[MOST_PARAMETER_BYTES];
    if (!kernel) return noted(INVALID_FUNCTION);
    status outcome = know(kernel);
    if (outcome) return noted(outcome);
    if (kernel->bytes > sizeof space) return noted(INVALID_VALUE);
    pack(kernel, arguments, space);
    word given[] = {kernel->number, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, AS_WORD(stream), cooperative};
    if (kernel->ran && is_plain(grid, block, shared)) return noted(tell(LAUNCH, 10, given, space, kernel->bytes));
    outcome = ask(LAUNCH, 10, given, space, kernel->bytes, NULL, NULL, 0);
    if (!outcome) kernel->ran = 1;
    return noted(outcome);
}

API status cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    return launch(find_kernel(host), grid, block, arguments, shared, stream, 0);
}

API status cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    return launch(find_kernel(host), grid, block, arguments, shared, stream, 1);
}

API status __cudaGetKernel(struct kernel **kernel, const void *host) {
    *kernel = find_kernel(host);
    return *kernel ? SUCCESS : INVALID_FUNCTION;
}

API status cudaGetKernel(struct kernel **kernel, const void *host) { return noted(__cudaGetKernel(kernel, host)); }

API status cudaGetFuncBySymbol(struct kernel **kernel, const void *host) { return noted(__cudaGetKernel(kernel, host)); }

API status __cudaLaunchKernel(struct kernel *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    return launch(kernel, grid, block, arguments, shared, stream, 0);
}

API status cudaLaunchKernelExC(const struct launch_configuration *how, const void *host, void **arguments) {
    int cooperative = 0;
    for (unsigned i = 0; i < how->count; i++) {
        const struct launch_attribute *each = &how->attributes[i];
        if (each->id == COOPERATIVE) cooperative = each->value.number;
        if (each->id == CLUSTER_DIMENSION && each->value.shape[0] * each->value.shape[1] * each->value.shape[2] > 1)
            return noted(NOT_SUPPORTED);
    }
    return launch(find_kernel(host), how->grid, how->block, arguments, how->shared, how->stream, cooperative);
}

API status cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    (void)stream; /* all that was asked for before has been done */
    function(data);
    return SUCCESS;
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
