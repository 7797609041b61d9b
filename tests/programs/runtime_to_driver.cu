// What CUDA's runtime leaves to the driver: functions by name, pools of memory, libraries of kernels.
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

int main(int, char **words) {
    void *function = nullptr, *none = &function;
    cudaDriverEntryPointQueryResult found, missing;
    printf("%s ", cudaGetErrorName(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &function, 12000, cudaEnableDefault, &found)));
    cudaGetDriverEntryPointByVersion("cuNothing", &none, 12000, cudaEnableDefault, &missing);
    int devices = 0;
    cudaFree(nullptr);
    CUresult (*count)(int *) = (CUresult(*)(int *))function;
    count(&devices); // without cuInit: the runtime has done that
    printf("%d %d %d %d\n", found, missing, none == nullptr, devices);

    cudaMemPool_t pool;
    uint64_t kept = 0, wanted = 1 << 20;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &wanted);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
    void *data;
    printf("%llu %s ", (unsigned long long)kept, cudaGetErrorName(cudaMallocFromPoolAsync(&data, 128, pool, 0)));
    printf("%s %s\n", cudaGetErrorName(cudaMemPoolTrimTo(pool, 0)), cudaGetErrorName(cudaFreeAsync(data, 0)));

    cudaLibrary_t library;
    cudaKernel_t kernel;
    unsigned kernels = 0;
    printf("%s ", cudaGetErrorName(cudaLibraryLoadFromFile(&library, words[1], nullptr, nullptr, 0, nullptr, nullptr, 0)));
    cudaLibraryGetKernelCount(&kernels, library);
    printf("%d %s ", kernels > 0, cudaGetErrorName(cudaLibraryGetKernel(&kernel, library, "reversed")));
    int values[32];
    for (int i = 0; i < 32; i++) values[i] = i;
    cudaMalloc(&data, sizeof values);
    cudaMemcpy(data, values, sizeof values, cudaMemcpyDefault);
    void *arguments[] = {&data};
    cudaLaunchKernel((const void *)kernel, dim3(1), dim3(32), arguments, sizeof values, 0);
    cudaMemcpy(values, data, sizeof values, cudaMemcpyDefault);
    printf("%d %d %s\n", values[0], values[31], cudaGetErrorName(cudaLibraryUnload(library)));
    return cudaGetLastError();
}
