// random numbers and a count by ballots
extern "C" __global__ void pi_random(unsigned *count, int rounds)
{
    unsigned s = blockIdx.x * blockDim.x + threadIdx.x + 1, hits = 0;
    for (int r = 0; r < rounds; r++) {
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        float x = s * 2.3283064e-10f;
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        float y = s * 2.3283064e-10f;
        hits += x * x + y * y < 1.0f;
    }
    for (int d = 16; d; d >>= 1) hits += __shfl_xor_sync(~0u, hits, d);
    if (threadIdx.x % 32 == 0) atomicAdd(count, hits);
}
