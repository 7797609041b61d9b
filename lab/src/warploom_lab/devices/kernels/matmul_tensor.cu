// half precision on tensor cores: tiles of 64 x 64, ldmatrix, mma.m16n8k16, four warps
extern "C" __global__ void matmul_tensor(const unsigned short *a, const unsigned short *b, float *c, int n)
{
    __shared__ __align__(16) unsigned short as[64][40], bs[64][40];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float sum[8][4] = {};
    for (int k0 = 0; k0 < n; k0 += 32) {
        for (int i = t; i < 256; i += 128) {
            *(uint4 *)&as[i / 4][i % 4 * 8] = *(const uint4 *)&a[(row0 + i / 4) * n + k0 + i % 4 * 8];
            *(uint4 *)&bs[i / 4][i % 4 * 8] = *(const uint4 *)&b[(col0 + i / 4) * n + k0 + i % 4 * 8];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k += 16) {
            unsigned x[4], y[4];
            unsigned at = (unsigned)__cvta_generic_to_shared(&as[warp * 16 + lane % 16][k + lane / 16 * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(at));
#pragma unroll
            for (int j = 0; j < 8; j += 2) {
                unsigned bt = (unsigned)__cvta_generic_to_shared(&bs[j * 8 + lane % 8 + lane / 16 * 8][k + lane / 8 % 2 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "r"(bt));
#pragma unroll
                for (int h = 0; h < 2; h++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(sum[j + h][0]), "+f"(sum[j + h][1]), "+f"(sum[j + h][2]), "+f"(sum[j + h][3])
                                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * h]), "r"(y[2 * h + 1]));
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; j++) {
        float *to = &c[(row0 + warp * 16 + lane / 4) * n + col0 + j * 8 + lane % 4 * 2];
        *(float2 *)to = make_float2(sum[j][0], sum[j][1]);
        *(float2 *)(to + 8 * n) = make_float2(sum[j][2], sum[j][3]);
    }
}
