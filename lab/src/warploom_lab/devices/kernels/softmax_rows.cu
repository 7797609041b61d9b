// a row of 1,024 for each CTA: maximum, exponentials, sum
extern "C" __global__ void softmax_rows(const float *in, float *out)
{
    __shared__ float s[8];
    int t = threadIdx.x, lane = t % 32;
    const float *row = in + blockIdx.x * 1024;
    float v[4], most = -1e30f, sum = 0;
    for (int k = 0; k < 4; k++) { v[k] = row[t + 256 * k]; most = fmaxf(most, v[k]); }
    for (int d = 16; d; d >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (lane == 0) s[t / 32] = most;
    __syncthreads();
    for (int w = 0; w < 8; w++) most = fmaxf(most, s[w]);
    __syncthreads();
    for (int k = 0; k < 4; k++) { v[k] = __expf(v[k] - most); sum += v[k]; }
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) s[t / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; w++) sum += s[w];
    for (int k = 0; k < 4; k++) out[blockIdx.x * 1024 + t + 256 * k] = v[k] / sum;
}
