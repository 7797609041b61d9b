// 3 x 3 convolution of 8 channels of 132 x 68 to 16, a CTA for a piece of one output channel, weights in shared memory
extern "C" __global__ void convolution_channels(const float *in, const float *weight, float *out)
{
    __shared__ float w[72];
    const int pitch = 132, plane = 132 * 68;
    int t = threadIdx.y * 32 + threadIdx.x, x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, to = blockIdx.z;
    if (t < 72) w[t] = weight[to * 72 + t];
    __syncthreads();
    float sum = 0;
    for (int c = 0; c < 8; c++)
#pragma unroll
        for (int dy = 0; dy < 3; dy++)
#pragma unroll
            for (int dx = 0; dx < 3; dx++) sum += w[c * 9 + dy * 3 + dx] * in[c * plane + (y + dy) * pitch + x + dx];
    out[(to * 64 + y) * 128 + x] = fmaxf(sum, 0.0f);
}
