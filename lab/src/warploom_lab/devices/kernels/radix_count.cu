// four bits of every key counted in counters of each thread in shared memory
extern "C" __global__ void radix_count(const unsigned *keys, unsigned *counts, int shift)
{
    __shared__ unsigned short mine[16][128];
    int t = threadIdx.x;
    for (int d = 0; d < 16; d++) mine[d][t] = 0;
    for (int i = 0; i < 16; i++) mine[keys[(blockIdx.x * 16 + i) * 128 + t] >> shift & 15][t]++;
    __syncthreads();
    for (int d = t / 8; d < 16; d += 16) {
        unsigned sum = 0;
        for (int i = 0; i < 16; i++) sum += mine[d][t % 8 * 16 + i];
        for (int o = 4; o; o >>= 1) sum += __shfl_down_sync(~0u, sum, o, 8);
        if (t % 8 == 0) counts[d * gridDim.x + blockIdx.x] = sum;
    }
}
