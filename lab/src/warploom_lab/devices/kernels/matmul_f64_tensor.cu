// double precision on tensor cores: tiles of 32 x 32 by four warps, mma.m16n8k16
extern "C" __global__ void __launch_bounds__(128) matmul_f64_tensor(const double *a, const double *b, double *c, int n)
{
    __shared__ double as[32][17], bs[32][17];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, g = lane / 4, q = lane % 4, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    double sum[2][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int i = t; i < 512; i += 128) {
            as[i / 16][i % 16] = a[(row0 + i / 16) * n + k0 + i % 16];
            bs[i / 16][i % 16] = b[(col0 + i / 16) * n + k0 + i % 16];
        }
        __syncthreads();
        double x[8], y[4];
        for (int i = 0; i < 4; i++) {
            x[2 * i] = as[warp / 2 * 16 + g][4 * i + q];
            x[2 * i + 1] = as[warp / 2 * 16 + g + 8][4 * i + q];
        }
#pragma unroll
        for (int j = 0; j < 2; j++) {
            for (int i = 0; i < 4; i++) y[i] = bs[warp % 2 * 16 + j * 8 + g][4 * i + q];
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                         : "+d"(sum[j][0]), "+d"(sum[j][1]), "+d"(sum[j][2]), "+d"(sum[j][3])
                         : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(x[4]), "d"(x[5]), "d"(x[6]), "d"(x[7]), "d"(y[0]), "d"(y[1]), "d"(y[2]), "d"(y[3]));
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; j++) {
        double *to = &c[(row0 + warp / 2 * 16 + g) * n + col0 + warp % 2 * 16 + j * 8 + 2 * q];
        *(double2 *)to = make_double2(sum[j][0], sum[j][1]);
        *(double2 *)(to + 8 * n) = make_double2(sum[j][2], sum[j][3]);
    }
}
