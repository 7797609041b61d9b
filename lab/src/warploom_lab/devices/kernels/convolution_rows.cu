// the rows' half of a separable filter of 13 taps, a row's piece in shared memory, four rows for each CTA
extern "C" __global__ void convolution_rows(const float *in, float *out, const float *kernel)
{
    __shared__ float s[4][140], k[13];
    int t = threadIdx.x, x0 = blockIdx.x * 128, y0 = blockIdx.y * 4, pitch = 1036;
    if (t < 13) k[t] = kernel[t];
    for (int r = 0; r < 4; r++)
        for (int i = t; i < 140; i += 128) s[r][i] = in[(y0 + r) * pitch + x0 + i];
    __syncthreads();
    float sum[4] = {};
    for (int d = 0; d < 13; d++)
        for (int r = 0; r < 4; r++) sum[r] += k[d] * s[r][t + d];
    for (int r = 0; r < 4; r++) out[(y0 + r) * 1024 + x0 + t] = sum[r];
}
