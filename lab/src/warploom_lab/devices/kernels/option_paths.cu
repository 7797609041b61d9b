// prices along random paths (xorshift, exponentials), an average of payoffs for each CTA
extern "C" __global__ void option_paths(float *out, int steps)
{
    __shared__ float s[4];
    unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1u, y = 362436069u, z = 521288629u;
    float price = 100.0f, sum = 0;
    for (int k = 0; k < steps; k++) {
        unsigned t = x ^ x << 11;
        x = y;
        y = z;
        z = z ^ z >> 19 ^ t ^ t >> 8;
        float step = (z >> 8) * (2.0f / 16777216) - 1.0f;
        price *= __expf(0.0002f + 0.02f * step);
        sum += price;
    }
    float pay = fmaxf(sum / steps - 100.0f, 0.0f);
    for (int d = 16; d; d >>= 1) pay += __shfl_down_sync(~0u, pay, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = pay;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = (s[0] + s[1] + s[2] + s[3]) / 128;
}
