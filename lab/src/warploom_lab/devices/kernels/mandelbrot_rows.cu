// lanes leave a loop at different times
extern "C" __global__ void mandelbrot_rows(int *out, int width, int most)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, n = 0;
    float cr = x * (3.0f / width) - 2.0f, ci = y * (2.0f / width) - 1.0f, r = 0, i = 0;
    while (r * r + i * i < 4.0f && n < most) {
        float next = r * r - i * i + cr;
        i = 2.0f * r * i + ci;
        r = next;
        n++;
    }
    out[y * width + x] = n;
}
