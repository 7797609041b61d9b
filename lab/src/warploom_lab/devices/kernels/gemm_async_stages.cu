// product whose next tiles come to shared memory by cp.async while the present ones are used; 4 x 4 for each thread
__device__ __forceinline__ void bring(float *to, const float *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
extern "C" __global__ void gemm_async_stages(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ __align__(16) float as[2][64][20], bs[2][16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float sum[4][4] = {};
    bring(&as[0][t / 4][t % 4 * 4], &a[(row0 + t / 4) * k + t % 4 * 4]);
    bring(&bs[0][t / 16][t % 16 * 4], &b[t / 16 * n + col0 + t % 16 * 4]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    int now = 0;
    for (int k0 = 0; k0 < k; k0 += 16, now ^= 1) {
        if (k0 + 16 < k) {
            bring(&as[now ^ 1][t / 4][t % 4 * 4], &a[(row0 + t / 4) * k + k0 + 16 + t % 4 * 4]);
            bring(&bs[now ^ 1][t / 16][t % 16 * 4], &b[(k0 + 16 + t / 16) * n + col0 + t % 16 * 4]);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; j++) {
            float4 y = *(float4 *)&bs[now][j][tx * 4];
#pragma unroll
            for (int r = 0; r < 4; r++) {
                float x = as[now][ty * 4 + r][j];
                sum[r][0] += x * y.x;
                sum[r][1] += x * y.y;
                sum[r][2] += x * y.z;
                sum[r][3] += x * y.w;
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        *(float4 *)&c[(row0 + ty * 4 + r) * n + col0 + tx * 4] = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}
