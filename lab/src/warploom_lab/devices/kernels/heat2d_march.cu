// nine points of a plane, each thread marches down 32 rows and keeps three of them in registers
extern "C" __global__ void heat2d_march(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y0 = blockIdx.y * 32;
    if (x < 1 || x >= n - 1) return;
    float a[3], b[3], c[3];
    for (int d = 0; d < 3; d++) {
        a[d] = in[y0 * n + x + d - 1];
        b[d] = in[(y0 + 1) * n + x + d - 1];
    }
    for (int y = y0 + 1; y < y0 + 33 && y < n - 1; y++) {
#pragma unroll
        for (int d = 0; d < 3; d++) c[d] = in[(y + 1) * n + x + d - 1];
        out[y * n + x] = 0.5f * b[1] + 0.1f * (a[1] + c[1] + b[0] + b[2]) + 0.025f * (a[0] + a[2] + c[0] + c[2]);
#pragma unroll
        for (int d = 0; d < 3; d++) {
            a[d] = b[d];
            b[d] = c[d];
        }
    }
}
