// weights by distance and by difference over 5 x 5 places, rows of 388
extern "C" __global__ void bilateral_filter(const float *in, float *out)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float centre = in[(y + 2) * 388 + x + 2], sum = 0, weights = 0;
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++) {
            float v = in[(y + dy) * 388 + x + dx], d = v - centre;
            float w = __expf(-0.1f * ((dx - 2) * (dx - 2) + (dy - 2) * (dy - 2)) - 0.0005f * d * d);
            sum += w * v;
            weights += w;
        }
    out[y * 384 + x] = sum / weights;
}
