/* Preloaded beside CUDA's own runtime on a machine with a GPU: lets every call through and tells Warploom what it did.
   Everything is made synchronous, so that what is told is what happened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warploom.h"

struct variable { const void *host; void **managed; char *name; struct image *image; word bytes; int placed; struct variable *next; };
struct noted_allocation { word address, bytes; int kind; struct noted_allocation *next; };
struct handle { void **real; struct image image; struct handle *next; };

static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;
static struct variable *variables;
static struct noted_allocation *allocations;
static struct handle *handles;

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "warploom: CUDA's runtime has no %s\n", name);
        abort();
    }
    return found;
}
/* The real function of the same type as the one that stands here. */
#define REAL(name) ((__typeof__(&name))real(#name))

API status cudaDeviceSynchronize(void);
API status cudaGetSymbolAddress(void **, const void *);

static struct image *image_of(void **handle) {
    static struct image none = {.sent = 1, .outcome = INVALID_HANDLE};
    for (struct handle *each = handles; each; each = each->next)
        if (each->real == handle) return &each->image;
    return &none;
}

API void **__cudaRegisterFatBinary(void *wrapper) {
    struct handle *handle = calloc(1, sizeof *handle);
    handle->real = REAL(__cudaRegisterFatBinary)(wrapper);
    handle->image.data = wrapper;
    send_image(&handle->image);
    pthread_mutex_lock(&lists);
    handle->next = handles;
    handles = handle;
    pthread_mutex_unlock(&lists);
    return handle->real;
}

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid, void *bid,
                                void *block, void *grid, int *warp) {
    add_kernel(image_of(handle), host, name);
    REAL(__cudaRegisterFunction)(handle, host, device, name, threads, tid, bid, block, grid, warp);
}

static void remember(word address, word bytes, int kind) {
    struct noted_allocation *allocation = calloc(1, sizeof *allocation);
    pthread_mutex_lock(&lists);
    *allocation = (struct noted_allocation){address, bytes, kind, allocations};
    allocations = allocation;
    pthread_mutex_unlock(&lists);
}

static void add_variable(void **handle, const void *host, void **managed, const char *name, size_t bytes) {
    struct variable *variable = calloc(1, sizeof *variable);
    pthread_mutex_lock(&lists);
    *variable = (struct variable){host, managed, strdup(name), image_of(handle), bytes, 0, variables};
    variables = variable;
    pthread_mutex_unlock(&lists);
}

API void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext, size_t bytes, int constant,
                           int global) {
    add_variable(handle, host, NULL, name, bytes);
    REAL(__cudaRegisterVar)(handle, host, address, name, ext, bytes, constant, global);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *address, const char *name, int ext, size_t bytes, int constant,
                                  int global) {
    add_variable(handle, host, host, name, bytes);
    REAL(__cudaRegisterManagedVar)(handle, host, address, name, ext, bytes, constant, global);
}

/* Variables have addresses once the device is in use; a managed one is the program's memory too. */
static void place_variables(void) {
    for (struct variable *each = variables; each; each = each->next) {
        void *address = NULL;
        if (each->placed) continue;
        if (each->managed) address = *each->managed;
        else if (REAL(cudaGetSymbolAddress)(&address, each->host)) continue;
        if (!address) continue;
        word given[] = {each->image->number, AS_WORD(address), each->bytes};
        ask(PLACED, 3, given, each->name, strlen(each->name), NULL, NULL, 0);
        each->placed = 1;
        if (each->managed) remember(AS_WORD(address), each->bytes, MANAGED_MEMORY);
    }
}

static status allocated(status outcome, void **address, size_t bytes, int kind) {
    if (outcome || !*address) return outcome;
    remember(AS_WORD(*address), bytes, kind);
    ASK(ALLOCATED, NULL, AS_WORD(*address), bytes, kind);
    return outcome;
}

static struct noted_allocation *home(word address) {
    struct noted_allocation *each;
    for (each = allocations; each && !(each->address <= address && address < each->address + each->bytes); each = each->next) {}
    return each;
}

static void forget(void *address) {
    pthread_mutex_lock(&lists);
    for (struct noted_allocation **each = &allocations; *each; each = &(*each)->next)
        if ((*each)->address == AS_WORD(address)) {
            struct noted_allocation *gone = *each;
            *each = gone->next;
            ASK(FREE, NULL, gone->address, gone->kind);
            free(gone);
            break;
        }
    pthread_mutex_unlock(&lists);
}

API status cudaMalloc(void **address, size_t bytes) { return allocated(REAL(cudaMalloc)(address, bytes), address, bytes, DEVICE_MEMORY); }
API status cudaMallocHost(void **address, size_t bytes) {
    return allocated(REAL(cudaMallocHost)(address, bytes), address, bytes, PINNED_MEMORY);
}
API status cudaHostAlloc(void **address, size_t bytes, unsigned flags) {
    return allocated(REAL(cudaHostAlloc)(address, bytes, flags), address, bytes, PINNED_MEMORY);
}
API status cudaMallocManaged(void **address, size_t bytes, unsigned flags) {
    return allocated(REAL(cudaMallocManaged)(address, bytes, flags), address, bytes, MANAGED_MEMORY);
}
API status cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height) {
    status outcome = REAL(cudaMallocPitch)(address, pitch, width, height);
    return allocated(outcome, address, outcome ? 0 : *pitch * height, DEVICE_MEMORY);
}
API status cudaMalloc3D(pitched *result, extent size) {
    status outcome = REAL(cudaMalloc3D)(result, size);
    return allocated(outcome, &result->pointer, outcome ? 0 : result->pitch * size.height * size.depth, DEVICE_MEMORY);
}
API status cudaFree(void *address) {
    forget(address);
    return REAL(cudaFree)(address);
}
API status cudaFreeHost(void *address) {
    forget(address);
    return REAL(cudaFreeHost)(address);
}

/* Rows of the program's memory, sent one after the other. */
static void tell_rows(int operation, word device, word pitch, const void *host, word host_pitch, word width, word rows) {
    char *packed = malloc(width * rows + 1);
    for (word row = 0; row < rows; row++) memcpy(packed + row * width, (const char *)host + row * host_pitch, width);
    word given[] = {device, pitch, pitch * rows, width, rows, 1};
    ask(operation, 6, given, packed, width * rows, NULL, NULL, 0);
    free(packed);
}

static int on_device(word address, int kind, int when) {
    struct noted_allocation *found = home(address);
    return kind == DEFAULT_KIND ? found && found->kind != PINNED_MEMORY : kind == when || kind == DEVICE_TO_DEVICE;
}

static status copied(status outcome, word to, word to_pitch, word from, word from_pitch, word width, word rows, int kind) {
    if (outcome || !width || !rows) return outcome;
    outcome = REAL(cudaDeviceSynchronize)();
    int to_device = on_device(to, kind, HOST_TO_DEVICE), from_device = on_device(from, kind, DEVICE_TO_HOST);
    if (to_device && from_device)
        ASK(MOVED, NULL, to, to_pitch, to_pitch * rows, from, from_pitch, from_pitch * rows, width, rows, 1);
    else if (to_device)
        tell_rows(WROTE, to, to_pitch, AS_POINTER(from), from_pitch, width, rows);
    else if (from_device)
        tell_rows(READ_BACK, from, from_pitch, AS_POINTER(to), to_pitch, width, rows);
    return outcome;
}

API status cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    return copied(REAL(cudaMemcpy)(to, from, bytes, kind), AS_WORD(to), bytes, AS_WORD(from), bytes, bytes, 1, kind);
}
API status cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
    return copied(REAL(cudaMemcpyAsync)(to, from, bytes, kind, stream), AS_WORD(to), bytes, AS_WORD(from), bytes, bytes, 1, kind);
}
API status cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int kind) {
    return copied(REAL(cudaMemcpy2D)(to, to_pitch, from, from_pitch, width, rows, kind), AS_WORD(to), to_pitch, AS_WORD(from), from_pitch,
                  width, rows, kind);
}
API status cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int kind,
                             void *stream) {
    return copied(REAL(cudaMemcpy2DAsync)(to, to_pitch, from, from_pitch, width, rows, kind, stream), AS_WORD(to), to_pitch,
                  AS_WORD(from), from_pitch, width, rows, kind);
}

static word symbol_address(const void *host) {
    void *address = NULL;
    place_variables();
    REAL(cudaGetSymbolAddress)(&address, host);
    return AS_WORD(address);
}

API status cudaMemcpyToSymbol(const void *host, const void *from, size_t bytes, size_t offset, int kind) {
    status outcome = REAL(cudaMemcpyToSymbol)(host, from, bytes, offset, kind);
    return copied(outcome, symbol_address(host) + offset, bytes, AS_WORD(from), bytes, bytes, 1, kind == DEFAULT_KIND ? HOST_TO_DEVICE : kind);
}
API status cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t bytes, size_t offset, int kind, void *stream) {
    return (void)stream, cudaMemcpyToSymbol(host, from, bytes, offset, kind);
}
API status cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t offset, int kind) {
    status outcome = REAL(cudaMemcpyFromSymbol)(to, host, bytes, offset, kind);
    return copied(outcome, AS_WORD(to), bytes, symbol_address(host) + offset, bytes, bytes, 1, kind == DEFAULT_KIND ? DEVICE_TO_HOST : kind);
}
API status cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t bytes, size_t offset, int kind, void *stream) {
    return (void)stream, cudaMemcpyFromSymbol(to, host, bytes, offset, kind);
}

static status filled(status outcome, void *to, size_t pitch, int byte, size_t width, size_t rows) {
    if (!outcome && width && rows) ASK(FILL, NULL, AS_WORD(to), pitch, pitch * rows, width, rows, 1, (unsigned char)byte);
    return outcome;
}
API status cudaMemset(void *to, int byte, size_t bytes) { return filled(REAL(cudaMemset)(to, byte, bytes), to, bytes, byte, bytes, 1); }
API status cudaMemsetAsync(void *to, int byte, size_t bytes, void *stream) {
    return filled(REAL(cudaMemsetAsync)(to, byte, bytes, stream), to, bytes, byte, bytes, 1);
}
API status cudaMemset2D(void *to, size_t pitch, int byte, size_t width, size_t rows) {
    return filled(REAL(cudaMemset2D)(to, pitch, byte, width, rows), to, pitch, byte, width, rows);
}

/* Memory that the program reads and writes without calls. */
static void show(int operation) {
    for (struct noted_allocation *each = allocations; each; each = each->next)
        if (each->kind == PINNED_MEMORY || each->kind == MANAGED_MEMORY)
            tell_rows(operation, each->address, each->bytes, AS_POINTER(each->address), each->bytes, each->bytes, 1);
}

static void before(struct kernel *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, int cooperative) {
    char space[MOST_PARAMETER_BYTES];
    if (!kernel || know(kernel)) {
        fprintf(stderr, "warploom: a launch of %s cannot be recorded\n", kernel ? kernel->name : "a kernel that was not registered");
        return;
    }
    REAL(cudaDeviceSynchronize)();
    place_variables();
    show(WROTE);
    word bytes = pack(kernel, arguments, space);
    word given[] = {kernel->number, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, 0, cooperative, 0};
    ask(LAUNCH, 11, given, space, bytes, NULL, NULL, 0);
}

static status after(status outcome) {
    REAL(cudaDeviceSynchronize)(); /* an error of the kernel stays, and is the program's to find */
    show(READ_BACK);
    return outcome;
}

API status cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    before(find_kernel(host), grid, block, arguments, shared, 0);
    return after(REAL(cudaLaunchKernel)(host, grid, block, arguments, shared, stream));
}
API status cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    before(find_kernel(host), grid, block, arguments, shared, 1);
    return after(REAL(cudaLaunchCooperativeKernel)(host, grid, block, arguments, shared, stream));
}
API status cudaLaunchKernelExC(const struct launch_configuration *how, const void *host, void **arguments) {
    before(find_kernel(host), how->grid, how->block, arguments, how->shared, 0);
    return after(REAL(cudaLaunchKernelExC)(how, host, arguments));
}

/* From CUDA 12 on, launches go by a handle. */
static struct named { void *handle; const void *host; struct named *next; } *named;
API status __cudaGetKernel(void **handle, const void *host) {
    status outcome = REAL(__cudaGetKernel)(handle, host);
    struct named *entry = calloc(1, sizeof *entry);
    pthread_mutex_lock(&lists);
    *entry = (struct named){*handle, host, named};
    named = entry;
    pthread_mutex_unlock(&lists);
    return outcome;
}
API status __cudaLaunchKernel(void *handle, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    struct named *each;
    for (each = named; each && each->handle != handle; each = each->next) {}
    before(each ? find_kernel(each->host) : NULL, grid, block, arguments, shared, 0);
    return after(REAL(__cudaLaunchKernel)(handle, grid, block, arguments, shared, stream));
}

/* What is let through but not told. */
static void unrecorded(const char *name) { fprintf(stderr, "warploom: %s is not recorded; a replay will differ\n", name); }
API status cudaMallocArray(void **array, const void *format, size_t width, size_t height, unsigned flags) {
    unrecorded("cudaMallocArray");
    return REAL(cudaMallocArray)(array, format, width, height, flags);
}
API status cudaMalloc3DArray(void **array, const void *format, extent size, unsigned flags) {
    unrecorded("cudaMalloc3DArray");
    return REAL(cudaMalloc3DArray)(array, format, size, flags);
}
API status cudaCreateTextureObject(void *texture, const void *from, const void *how, const void *view) {
    unrecorded("cudaCreateTextureObject");
    return REAL(cudaCreateTextureObject)(texture, from, how, view);
}
API status cudaMemcpy3D(const void *how) {
    unrecorded("cudaMemcpy3D");
    return REAL(cudaMemcpy3D)(how);
}
API status cudaMallocAsync(void **address, size_t bytes, void *stream) {
    return (void)stream, cudaMalloc(address, bytes);
}
API status cudaFreeAsync(void *address, void *stream) { return (void)stream, cudaFree(address); }
