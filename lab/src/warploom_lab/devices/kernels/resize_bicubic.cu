// an image of 1024 x 768 bytes becomes 800 x 600 as triples of bytes, cubic weights, edges clamped
__device__ __forceinline__ float cubic(float t)
{
    t = fabsf(t);
    return t < 1 ? (1.5f * t - 2.5f) * t * t + 1 : t < 2 ? ((-0.5f * t + 2.5f) * t - 4) * t + 2 : 0.0f;
}
extern "C" __global__ void resize_bicubic(const unsigned char *in, unsigned char *out)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float fx = (x + 0.5f) * 1.28f - 0.5f, fy = (y + 0.5f) * 1.28f - 0.5f;
    int x0 = (int)floorf(fx), y0 = (int)floorf(fy);
    float sum = 0;
    for (int j = -1; j <= 2; j++) {
        float row = 0;
        int yy = min(max(y0 + j, 0), 767);
        for (int i = -1; i <= 2; i++) row += cubic(fx - x0 - i) * in[yy * 1024 + min(max(x0 + i, 0), 1023)];
        sum += cubic(fy - y0 - j) * row;
    }
    unsigned char v = (unsigned char)fminf(fmaxf(sum + 0.5f, 0.0f), 255.0f);
    unsigned char *to = out + (y * 800 + x) * 3;
    to[0] = v;
    to[1] = v;
    to[2] = 255 - v;
}
