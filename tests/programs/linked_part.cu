/* The other half, with names of its own that the first half has as well. */
#include <cstdio>

__device__ int total = 7;
__constant__ float weights[4] = {1, 2, 3, 4};
extern __shared__ int scratch[];
template <class T> __device__ __noinline__ T twice(T x) { return x + x; }
static __device__ int helper = 11;
static __device__ __noinline__ int own(int x) { return x - helper; }

__device__ __noinline__ int add_shared(int i) {
    __shared__ int mine[32];
    mine[i] = scratch[i ^ 1];
    __syncthreads();
    return mine[31 - i] + own(i);
}
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

typedef int (*function)(int);
__device__ __noinline__ int left(int x) { return x + 1000; }
__device__ __noinline__ int right(int x) { return x + 2000; }
__device__ function table[2] = {left, right};
__device__ function pick(int i) { return table[i]; }

__global__ void read_total(int *out) {
    if (threadIdx.x) return;
    out[0] += twice(total);
    printf("part %s\n", "prints");
}
void call_part(int *out) {
    read_total<<<1, 32>>>(out);
    int value;
    cudaMemcpyFromSymbol(&value, total, sizeof value);
    printf("total %d\n", value);
}
