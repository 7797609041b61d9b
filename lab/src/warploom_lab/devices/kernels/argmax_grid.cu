// the largest number and its place: shuffles, shared memory, one 64-bit atomic for each CTA
extern "C" __global__ void argmax_grid(const float *in, unsigned long long *best, int n)
{
    __shared__ unsigned long long s[16];
    float top = -1.0f;
    int where = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = in[i];
        if (v > top) {
            top = v;
            where = i;
        }
    }
    unsigned long long key = (unsigned long long)__float_as_uint(top) << 32 | (unsigned)where;
    for (int d = 16; d; d >>= 1) key = max(key, __shfl_xor_sync(~0u, key, d));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = key;
    __syncthreads();
    if (threadIdx.x < 32) {
        key = threadIdx.x < 16 ? s[threadIdx.x] : 0;
        for (int d = 8; d; d >>= 1) key = max(key, __shfl_xor_sync(~0u, key, d));
        if (threadIdx.x == 0) atomicMax(best, key);
    }
}
