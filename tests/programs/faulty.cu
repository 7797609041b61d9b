// A program with one fault of each kind that checks name.
#include <cstdio>

__global__ void races(int* data)
{
    __shared__ int sums[64];
    sums[threadIdx.x] = data[threadIdx.x];
    data[threadIdx.x] = sums[63 - threadIdx.x];
}

__global__ void clean(int* data)
{
    data[threadIdx.x] += 1;
}

int main()
{
    int* data;
    cudaMalloc(&data, 64 * sizeof(int));
    races<<<1, 64>>>(data);
    races<<<1, 64>>>(data);
    clean<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    puts("done");
    return 3;
}
