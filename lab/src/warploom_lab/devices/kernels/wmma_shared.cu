// half precision all through: tiles of 64 x 64 in shared memory, eight warps with 16 x 32 each
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_shared(const __half *a, const __half *b, __half *c, int n, int k)
{
    __shared__ __align__(32) __half as[64][48], bs[32][80];
    int t = threadIdx.x, warp = t / 32, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> sum[2];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y;
    for (int s = 0; s < 2; s++) wmma::fill_fragment(sum[s], __float2half(0.0f));
    for (int k0 = 0; k0 < k; k0 += 32) {
        *(uint4 *)&as[t / 4][t % 4 * 8] = *(const uint4 *)&a[(row0 + t / 4) * k + k0 + t % 4 * 8];
        *(uint4 *)&bs[t / 8][t % 8 * 8] = *(const uint4 *)&b[(k0 + t / 8) * n + col0 + t % 8 * 8];
        __syncthreads();
        for (int j = 0; j < 32; j += 16) {
            wmma::load_matrix_sync(x, &as[warp / 2 * 16][j], 48);
            for (int s = 0; s < 2; s++) {
                wmma::load_matrix_sync(y, &bs[j][warp % 2 * 32 + s * 16], 80);
                wmma::mma_sync(sum[s], x, y, sum[s]);
            }
        }
        __syncthreads();
    }
    for (int s = 0; s < 2; s++)
        wmma::store_matrix_sync(c + (row0 + warp / 2 * 16) * n + col0 + warp % 2 * 32 + s * 16, sum[s], n, wmma::mem_row_major);
}
