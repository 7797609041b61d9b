// lanes look up different words of a 16 KB table in constant memory
__constant__ unsigned table[4096] = {1, 2, 3};
extern "C" __global__ void constant_table(const unsigned *in, unsigned *out, int rounds)
{
    unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x], sum = 0;
    for (int r = 0; r < rounds; r++) {
        sum += table[v >> 4 & 4095] ^ table[r * 16 & 4095];
        v = v * 1664525u + 1013904223u;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
