// product with a transposed right matrix, tiles of 32 x 32 in shared memory, 2 x 2 for each thread
extern "C" __global__ void gemm_shared_transposed(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ float as[32][33], bs[32][33];
    int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    float s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    for (int k0 = 0; k0 < k; k0 += 32) {
        for (int dy = 0; dy < 32; dy += 16)
            for (int dx = 0; dx < 32; dx += 16) {
                as[ty + dy][tx + dx] = a[(row0 + ty + dy) * k + k0 + tx + dx];
                bs[ty + dy][tx + dx] = b[(col0 + ty + dy) * k + k0 + tx + dx];
            }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float x0 = as[ty][j], x1 = as[ty + 16][j], y0 = bs[tx][j], y1 = bs[tx + 16][j];
            s00 += x0 * y0;
            s01 += x0 * y1;
            s10 += x1 * y0;
            s11 += x1 * y1;
        }
        __syncthreads();
    }
    c[(row0 + ty) * n + col0 + tx] = s00;
    c[(row0 + ty) * n + col0 + tx + 16] = s01;
    c[(row0 + ty + 16) * n + col0 + tx] = s10;
    c[(row0 + ty + 16) * n + col0 + tx + 16] = s11;
}
