// A program whose kernels print, assert and take memory.
#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void speak(int n) { printf("thread %d of %d says %.1f\n", threadIdx.x, n, 0.5 * threadIdx.x); }

__global__ void check(int n) { assert(threadIdx.x < n); }

__global__ void take(int **out, int bytes) {
    int *mine = (int *)malloc(bytes);
    if (mine) *mine = 7 * threadIdx.x;
    out[threadIdx.x] = mine;
}

__global__ void give_back(int **in, int *out) {
    out[threadIdx.x] = in[threadIdx.x] ? *in[threadIdx.x] : -1;
    free(in[threadIdx.x]);
}

static int memory() {
    int **pointers, *numbers, seen[32], given = 0, sum = 0;
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);
    cudaMalloc(&pointers, 32 * sizeof *pointers);
    cudaMalloc(&numbers, sizeof seen);
    for (int bytes : {1 << 10, 1 << 16}) {
        take<<<1, 32>>>(pointers, bytes);
        give_back<<<1, 32>>>(pointers, numbers);
        cudaMemcpy(seen, numbers, sizeof seen, cudaMemcpyDefault);
        given = sum = 0;
        for (int n : seen) n < 0 ? 0 : (given++, sum += n);
        printf("%d %d\n", given, sum);
    }
    return puts(cudaGetErrorName(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 << 20))) < 0;
}

int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "memory")) return memory();
    if (count > 1 && !strcmp(words[1], "assert")) {
        speak<<<1, 1>>>(1);
        check<<<2, 32>>>(30);
        puts(cudaGetErrorName(cudaDeviceSynchronize()));
        return puts(cudaGetErrorName(cudaGetLastError())) < 0;
    }
    printf("before\n");
    speak<<<1, 3>>>(3);
    printf("launched\n");
    cudaDeviceSynchronize();
    printf("after\n");
    return 0;
}
