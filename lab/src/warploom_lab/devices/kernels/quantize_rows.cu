// rows of 1024 floats become bytes with a scale of their own: the largest of a row, then rounding and packing
extern "C" __global__ void quantize_rows(const float4 *in, unsigned *out, float *scale)
{
    __shared__ float part[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float4 v = in[i];
    float most = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    for (int d = 16; d; d >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (t % 32 == 0) part[t / 32] = most;
    __syncthreads();
    for (int w = 0; w < 8; w++) most = fmaxf(most, part[w]);
    float factor = 127.0f / most;
    int a = __float2int_rn(v.x * factor), b = __float2int_rn(v.y * factor), c = __float2int_rn(v.z * factor), d = __float2int_rn(v.w * factor);
    out[i] = (a & 255) | (b & 255) << 8 | (c & 255) << 16 | (unsigned)d << 24;
    if (t == 0) scale[blockIdx.x] = most / 127.0f;
}
