// half precision in 72 KB of dynamic shared memory, half of which is used: a 128 x 64 slice of A times a 64 x 64 of B by mma from ldmatrix, four rounds
extern "C" __global__ void tensor_wide_shared(const unsigned short *in, float *out, int tiles)
{
    extern __shared__ __align__(16) unsigned short s[];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float sum[8][4] = {};
    for (int r = 0; r < tiles; r++) {
        for (int i = t; i < 2048; i += 256) {
            int row = i / 8, col = i % 8 * 8;
            *(uint4 *)&s[row * 72 + col] = *(const uint4 *)&in[blockIdx.x * 16384 + ((row + r * 64) % 256) * 64 + col];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 64; k += 16) {
            unsigned x[4];
            unsigned at = (unsigned)__cvta_generic_to_shared(&s[(warp * 16 + lane % 16) * 72 + k + lane / 16 * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(at));
#pragma unroll
            for (int j = 0; j < 8; j++) {
                unsigned y[2], bt = (unsigned)__cvta_generic_to_shared(&s[(128 + k + lane % 16) * 72 + j * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"(bt));
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
                             : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
            }
        }
        __syncthreads();
    }
    float all = 0;
    for (int j = 0; j < 8; j++) all += sum[j][0] + sum[j][1] + sum[j][2] + sum[j][3];
    for (int j = 0; j < 4; j++) out[(blockIdx.x * 4 + j) * 256 + t] = all * (j + 1);
}
