/* What the runtime leaves to the driver: its functions by name, pools of memory, libraries of kernels. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "warploom.h"

enum { FOUND, NO_SYMBOL };

status cudaRuntimeGetVersion(int *version);
status cudaMallocAsync(void **address, size_t bytes, void *stream);
status cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);

/* Ours, which is there already under the name that programs ask for. */
static void *driver_function(const char *name) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

/* A call of the driver by name; its codes are the runtime's where both have one. */
#define BY_DRIVER(name, types, ...) do { \
        static status(*function) types; \
        if (!function) function = (status(*) types)driver_function(name); \
        return noted(function ? function(__VA_ARGS__) : NOT_SUPPORTED); \
    } while (0)

API status cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version, unsigned long long flags, int *result) {
    static status (*look_up)(const char *, void **, int, uint64_t, int *);
    int how = NO_SYMBOL;
    if (!name || !function) return noted(INVALID_VALUE);
    if (!look_up) look_up = driver_function("cuGetProcAddress_v2");
    *function = NULL;
    if (look_up) look_up(name, function, version, flags, &how);
    if (result) *result = how;
    return noted(how == FOUND || result ? SUCCESS : INVALID_VALUE);
}

#if WARPLOOM_CUDART_MAJOR >= 12
API status cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *result) {
#else
API status cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags) {
    int *result = NULL;
#endif
    int version;
    cudaRuntimeGetVersion(&version);
    return cudaGetDriverEntryPointByVersion(name, function, version, flags, result);
}

struct pool;
API status cudaDeviceGetDefaultMemPool(struct pool **pool, int device) {
    BY_DRIVER("cuDeviceGetDefaultMemPool", (struct pool **, int), pool, device);
}
API status cudaDeviceGetMemPool(struct pool **pool, int device) { BY_DRIVER("cuDeviceGetMemPool", (struct pool **, int), pool, device); }
API status cudaDeviceSetMemPool(int device, struct pool *pool) { BY_DRIVER("cuDeviceSetMemPool", (int, struct pool *), device, pool); }
API status cudaMemPoolCreate(struct pool **pool, const void *properties) {
    BY_DRIVER("cuMemPoolCreate", (struct pool **, const void *), pool, properties);
}
API status cudaMemPoolDestroy(struct pool *pool) { BY_DRIVER("cuMemPoolDestroy", (struct pool *), pool); }
API status cudaMemPoolSetAttribute(struct pool *pool, int number, void *value) {
    BY_DRIVER("cuMemPoolSetAttribute", (struct pool *, int, void *), pool, number, value);
}
API status cudaMemPoolGetAttribute(struct pool *pool, int number, void *value) {
    BY_DRIVER("cuMemPoolGetAttribute", (struct pool *, int, void *), pool, number, value);
}
API status cudaMemPoolTrimTo(struct pool *pool, size_t bytes) { BY_DRIVER("cuMemPoolTrimTo", (struct pool *, size_t), pool, bytes); }
API status cudaMemPoolSetAccess(struct pool *pool, const void *access, size_t count) {
    BY_DRIVER("cuMemPoolSetAccess", (struct pool *, const void *, size_t), pool, access, count);
}
API status cudaMallocFromPoolAsync(void **address, size_t bytes, struct pool *pool, void *stream) {
    return (void)pool, cudaMallocAsync(address, bytes, stream);
}

struct module;
API status cudaLibraryLoadData(struct module **library, const void *image, int *options, void **values, unsigned count, int *more,
                               void **more_values, unsigned more_count) {
    BY_DRIVER("cuLibraryLoadData", (struct module **, const void *, int *, void **, unsigned, int *, void **, unsigned), library, image,
              options, values, count, more, more_values, more_count);
}
API status cudaLibraryLoadFromFile(struct module **library, const char *path, int *options, void **values, unsigned count, int *more,
                                   void **more_values, unsigned more_count) {
    (void)options, (void)values, (void)count, (void)more, (void)more_values, (void)more_count;
    BY_DRIVER("cuLibraryLoadFromFile", (struct module **, const char *), library, path);
}
API status cudaLibraryUnload(struct module *library) { BY_DRIVER("cuLibraryUnload", (struct module *), library); }
API status cudaLibraryGetKernel(struct kernel **kernel, struct module *library, const char *name) {
    BY_DRIVER("cuLibraryGetKernel", (struct kernel **, struct module *, const char *), kernel, library, name);
}
API status cudaLibraryGetKernelCount(unsigned *count, struct module *library) {
    BY_DRIVER("cuLibraryGetKernelCount", (unsigned *, struct module *), count, library);
}
API status cudaLibraryEnumerateKernels(struct kernel **kernels, unsigned room, struct module *library) {
    BY_DRIVER("cuLibraryEnumerateKernels", (struct kernel **, unsigned, struct module *), kernels, room, library);
}
API status cudaLibraryGetGlobal(void **where, size_t *bytes, struct module *library, const char *name) {
    BY_DRIVER("cuLibraryGetGlobal", (void **, size_t *, struct module *, const char *), where, bytes, library, name);
}
API status cudaLibraryGetManaged(void **where, size_t *bytes, struct module *library, const char *name) {
    BY_DRIVER("cuLibraryGetManaged", (void **, size_t *, struct module *, const char *), where, bytes, library, name);
}
API status cudaKernelSetAttributeForDevice(struct kernel *kernel, int number, int value, int device) {
    BY_DRIVER("cuKernelSetAttribute", (int, int, struct kernel *, int), number, value, kernel, device);
}

/* One device has no peer; its memory is not handed to other processes. */
API status cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream) {
    return IN_STREAM(stream, cudaMemcpyPeer(to, to_device, from, from_device, bytes));
}
