// products of pairs in half precision
#include <cuda_fp16.h>
extern "C" __global__ void half_dot(const __half2 *a, const __half2 *b, float *out, int n)
{
    __half2 sum = __float2half2_rn(0.0f);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum = __hfma2(a[i], b[i], sum);
    float mine = __low2float(sum) + __high2float(sum);
    for (int d = 16; d; d >>= 1) mine += __shfl_down_sync(~0u, mine, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, mine);
}
