/* One half of a program whose device code is compiled in two files and linked: it uses what linked_part.cu defines. */
#include <cstdio>
#include <cstring>

extern __device__ int total;
extern __constant__ float weights[4];
extern __shared__ int scratch[];
__device__ int *where = &total;
__device__ int add_shared(int);
__device__ int fibonacci(int);
typedef int (*function)(int);
__device__ function pick(int);
template <class T> __device__ __noinline__ T twice(T x) { return x + x; } /* in both files */
static __device__ int helper = 5;                                         /* of this file, and another of the other */
static __device__ __noinline__ int own(int x) { return x * 3 + helper; }

__global__ void first(int *out, float *f) {
    int i = threadIdx.x;
    scratch[i] = i;
    __syncthreads();
    atomicAdd(&total, twice(i));
    f[i] = weights[i & 3];
    out[i] = own(i) + add_shared(i);
    if (i == 0) printf("first %s %d\n", "says", *where);
}
__global__ void second(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x & 7); }
__global__ void third(int *out) { out[threadIdx.x] = pick(threadIdx.x & 1)(threadIdx.x); }

void call_part(int *);

int main(int, char **words) {
    int *out, got[32];
    float *f, weighted[32];
    cudaMalloc(&out, sizeof got);
    cudaMalloc(&f, sizeof weighted);
    if (!strcmp(words[1], "values")) {
        first<<<1, 32, 128>>>(out, f);
        call_part(out);
    }
    if (!strcmp(words[1], "recursion")) second<<<1, 32>>>(out);
    if (!strcmp(words[1], "pointers")) third<<<1, 32>>>(out);
    cudaMemcpy(weighted, f, sizeof weighted, cudaMemcpyDeviceToHost);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) printf("%d ", got[i]);
    printf("%g %g %s\n", weighted[2], weighted[3], cudaGetErrorName(cudaGetLastError()));
}
