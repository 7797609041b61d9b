// a Julia set with smooth shades: lanes leave their loops at different times, then a logarithm
extern "C" __global__ void julia_smooth(float *out, int most)
{
    int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y, k = 0;
    float x = (px - 256) * 0.006f, y = (py - 256) * 0.004f;
    while (k < most && x * x + y * y < 16.0f) {
        float next = x * x - y * y - 0.79f;
        y = 2.0f * x * y + 0.15f;
        x = next;
        k++;
    }
    out[py * 512 + px] = k == most ? 0.0f : k + 1.0f - log2f(0.5f * logf(x * x + y * y));
}
