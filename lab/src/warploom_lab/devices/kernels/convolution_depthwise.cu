// 5 x 5 for each of 96 channels of 56 x 56, edges by tests, the channel's weights straight from memory
extern "C" __global__ void convolution_depthwise(const float *in, const float *weight, float *out)
{
    const float *from = in + blockIdx.x * 3136, *w = weight + blockIdx.x * 25;
    for (int i = threadIdx.x; i < 448; i += 256) {
        int y = blockIdx.y * 8 + i / 56, x = i % 56;
        float sum = 0;
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -2; dx <= 2; dx++)
                if ((unsigned)(y + dy) < 56u && (unsigned)(x + dx) < 56u) sum += w[(dy + 2) * 5 + dx + 2] * from[(y + dy) * 56 + x + dx];
        out[blockIdx.x * 3136 + y * 56 + x] = sum;
    }
}
