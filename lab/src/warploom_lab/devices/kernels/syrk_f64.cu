// symmetric product in double precision, CTAs above the diagonal leave at once
extern "C" __global__ void syrk_f64(const double *a, double *c, int n, int k)
{
    __shared__ double as[16][17], bs[16][17];
    if (blockIdx.x > blockIdx.y) return;
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    double sum = 0;
    for (int k0 = 0; k0 < k; k0 += 16) {
        as[ty][tx] = a[row * k + k0 + tx];
        bs[ty][tx] = a[(blockIdx.x * 16 + ty) * k + k0 + tx];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += as[ty][j] * bs[tx][j];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
