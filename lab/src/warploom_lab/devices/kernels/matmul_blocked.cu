// tiles of 64 x 64 in shared memory, 4 x 4 elements for each thread, vectors of four
extern "C" __global__ void matmul_blocked(const float *a, const float *b, float *c, int n)
{
    __shared__ __align__(16) float as[16][68], bs[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        float4 va = *(const float4 *)&a[(row0 + t / 4) * n + k0 + t % 4 * 4];
        as[t % 4 * 4][t / 4] = va.x;
        as[t % 4 * 4 + 1][t / 4] = va.y;
        as[t % 4 * 4 + 2][t / 4] = va.z;
        as[t % 4 * 4 + 3][t / 4] = va.w;
        *(float4 *)&bs[t / 16][tx * 4] = *(const float4 *)&b[(k0 + t / 16) * n + col0 + tx * 4];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 u = *(float4 *)&as[k][ty * 4], v = *(float4 *)&bs[k][tx * 4];
            float x[4] = {u.x, u.y, u.z, u.w}, y[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *(float4 *)&c[(row0 + ty * 4 + i) * n + col0 + tx * 4] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
