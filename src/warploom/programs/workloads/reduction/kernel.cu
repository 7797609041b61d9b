// Sum of an array: every CTA of 256 threads adds its share (eight elements at a time, with the stride of the grid), then
// halves the partial sums in shared memory until one is left. A second launch with one CTA adds the partial sums.

#define THREADS 256
#define EACH 8

extern "C" __global__ void reduction(const float* values, float* sums, int n)
{
    __shared__ float partial[THREADS];
    const int t = threadIdx.x;

    float sum = 0.0f;
    int i = blockIdx.x * THREADS * EACH + t;
    for (; i + (EACH - 1) * THREADS < n; i += gridDim.x * THREADS * EACH) {
#pragma unroll
        for (int k = 0; k < EACH; ++k)
            sum += values[i + k * THREADS];
    }
    for (; i < n; i += THREADS)  // what is left at the array's end, less than EACH elements
        sum += values[i];
    partial[t] = sum;
    __syncthreads();

#pragma unroll
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            partial[t] = sum = sum + partial[t + half];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = sum;
}
