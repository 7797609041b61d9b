// a polynomial and a clamp in pairs of half precision, eight numbers for each thread
#include <cuda_fp16.h>
extern "C" __global__ void half_polynomial(const uint4 *in, uint4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 v = in[i];
    __half2 *x = (__half2 *)&v;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        __half2 y = x[k];
        for (int r = 0; r < 6; r++) {
            __half2 p = __float2half2_rn(0.04f);
            p = __hfma2(p, y, __float2half2_rn(0.16f));
            p = __hfma2(p, y, __float2half2_rn(-0.5f));
            p = __hfma2(p, y, __float2half2_rn(0.9f));
            y = __hmin2(__hmax2(__hmul2(p, y), __float2half2_rn(-1.0f)), __float2half2_rn(1.0f));
        }
        x[k] = __hadd2(y, x[k]);
    }
    out[i] = v;
}
