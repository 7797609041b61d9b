// Scalar products of many pairs of vectors. A CTA of 256 threads takes a pair at a time: 1024 running sums in shared memory,
// four a thread, each over every 1024th product, and then a tree over the 1024 sums.

#define THREADS 256
#define SUMS 1024

extern "C" __global__ void scalarprod(float* products, const float* a, const float* b, int vectors, int elements)
{
    __shared__ float sums[SUMS];
    for (int vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
        const int first = vector * elements;
        const int end = first + elements;
#pragma unroll 1
        for (int slot = threadIdx.x; slot < SUMS; slot += THREADS) {
            float sum = 0.0f;
#pragma unroll 1
            for (int i = first + slot; i < end; i += SUMS)
                sum += a[i] * b[i];
            sums[slot] = sum;
        }
        for (int half = SUMS / 2; half > 0; half /= 2) {
            __syncthreads();
            for (int slot = threadIdx.x; slot < half; slot += THREADS)
                sums[slot] += sums[slot + half];
        }
        if (threadIdx.x == 0)
            products[vector] = sums[0];
    }
}
