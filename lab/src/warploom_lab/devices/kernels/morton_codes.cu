// places in space to codes of 63 bits, bits spread by shifts and masks
__device__ __forceinline__ unsigned long long spread(unsigned long long v)
{
    v = (v | v << 32) & 0x1f00000000ffffull;
    v = (v | v << 16) & 0x1f0000ff0000ffull;
    v = (v | v << 8) & 0x100f00f00f00f00full;
    v = (v | v << 4) & 0x10c30c30c30c30c3ull;
    return (v | v << 2) & 0x1249249249249249ull;
}
extern "C" __global__ void morton_codes(const float *point, unsigned long long *code)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = (unsigned)(point[3 * i] * 2000000.0f), y = (unsigned)(point[3 * i + 1] * 2000000.0f), z = (unsigned)(point[3 * i + 2] * 2000000.0f);
    code[i] = spread(x & 0x1fffff) | spread(y & 0x1fffff) << 1 | spread(z & 0x1fffff) << 2;
}
