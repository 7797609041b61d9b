// an array of 64 words for each thread, indexed by data: local memory
extern "C" __global__ void local_array(const unsigned *in, unsigned *out, int rounds)
{
    unsigned mine[64], v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 0; i < 64; i++) mine[i] = v + i;
    for (int r = 0; r < rounds; r++) {
        unsigned a = v >> 9 & 63, b = v >> 17 & 63, old = mine[a];
        mine[a] = mine[b];
        mine[b] = old;
        v = v * 1664525u + 1013904223u;
    }
    for (int i = 0; i < 64; i++) v ^= mine[i] * i;
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
