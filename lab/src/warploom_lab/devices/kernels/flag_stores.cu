// all threads write one of a few flags
extern "C" __global__ void flag_stores(const unsigned *in, unsigned *flags)
{
    unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (v & 1) flags[0] = 1;
    if (v % 100 < 50) flags[v % 4 * 32] = v;
}
