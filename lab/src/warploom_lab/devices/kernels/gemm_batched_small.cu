// a product of two matrices of 16 x 16 for each warp, one column pair of rows for each lane
extern "C" __global__ void gemm_batched_small(const float *a, const float *b, float *c)
{
    __shared__ float as[4][16][17], bs[4][16][16];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32, col = lane % 16, half = lane / 16;
    long at = (blockIdx.x * 4l + w) * 256;
    for (int i = lane; i < 256; i += 32) {
        as[w][i / 16][i % 16] = a[at + i];
        bs[w][i / 16][i % 16] = b[at + i];
    }
    __syncwarp();
    float sum[8] = {};
#pragma unroll 4
    for (int k = 0; k < 16; k++) {
        float y = bs[w][k][col];
#pragma unroll
        for (int r = 0; r < 8; r++) sum[r] += as[w][half * 8 + r][k] * y;
    }
    for (int r = 0; r < 8; r++) c[at + (half * 8 + r) * 16 + col] = sum[r];
}
