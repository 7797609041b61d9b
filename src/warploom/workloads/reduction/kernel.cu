// Sum of an array: every CTA of 256 threads adds its share (four elements at a time, with the stride of the grid), then halves the
// partial sums in shared memory until one is left. A second launch with one CTA adds the partial sums.

#define THREADS 256

extern "C" __global__ void reduction(const float* values, float* sums, int n)
{
    __shared__ float partial[THREADS];
    const int t = threadIdx.x;

    float sum = 0.0f;
    int i = blockIdx.x * THREADS * 4 + t;
    for (; i + 3 * THREADS < n; i += gridDim.x * THREADS * 4)
        sum += (values[i] + values[i + THREADS]) + (values[i + 2 * THREADS] + values[i + 3 * THREADS]);
    for (; i < n; i += THREADS)  // what is left of the array's end, less than four elements
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
