// for each entry of a sparse pattern the product of two rows of 64, eight lanes each
extern "C" __global__ void sddmm_dots(const int *row, const int *column, const float *a, const float *b, float *out)
{
    int entry = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    const float4 *x = (const float4 *)(a + row[entry] * 64), *y = (const float4 *)(b + column[entry] * 64);
    float sum = 0;
    for (int k = lane; k < 16; k += 8) {
        float4 u = x[k], v = y[k];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    for (int d = 4; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d, 8);
    if (lane == 0) out[entry] = sum;
}
