// tiles of 128 x 64 of a product, 8 x 4 of them for each thread; the left matrix is stored by columns
extern "C" __global__ void __launch_bounds__(256) gemm_register_tile(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ __align__(16) float as[16][128], bs[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row0 = blockIdx.y * 128, col0 = blockIdx.x * 64;
    float sum[8][4] = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
        for (int i = t; i < 512; i += 256) *(float4 *)&as[i / 32][i % 32 * 4] = *(const float4 *)&a[(k0 + i / 32) * n + row0 + i % 32 * 4];
        *(float4 *)&bs[t / 16][t % 16 * 4] = *(const float4 *)&b[(k0 + t / 16) * n + col0 + t % 16 * 4];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; j++) {
            float4 x = *(float4 *)&as[j][ty * 8], z = *(float4 *)&as[j][ty * 8 + 4], y = *(float4 *)&bs[j][tx * 4];
            float left[8] = {x.x, x.y, x.z, x.w, z.x, z.y, z.z, z.w}, right[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int r = 0; r < 8; r++)
#pragma unroll
                for (int s = 0; s < 4; s++) sum[r][s] += left[r] * right[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < 8; r++)
        *(float4 *)&c[(row0 + ty * 8 + r) * n + col0 + tx * 4] = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}
