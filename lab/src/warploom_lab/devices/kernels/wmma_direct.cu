// half precision tiles of 16 x 16 x 16 straight from global memory, 32 x 32 for each warp
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_direct(const __half *a, const __half *b, float *c, int n, int k)
{
    int warp = threadIdx.x / 32, row = blockIdx.y * 64 + warp / 2 * 32, col = blockIdx.x * 64 + warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y[2];
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++) wmma::fill_fragment(sum[r][s], 0.0f);
    for (int k0 = 0; k0 < k; k0 += 16) {
        for (int r = 0; r < 2; r++) {
            wmma::load_matrix_sync(x[r], a + (row + r * 16) * k + k0, k);
            wmma::load_matrix_sync(y[r], b + (col + r * 16) * k + k0, k);
        }
        for (int r = 0; r < 2; r++)
            for (int s = 0; s < 2; s++) wmma::mma_sync(sum[r][s], x[r], y[s], sum[r][s]);
    }
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++) wmma::store_matrix_sync(c + (row + r * 16) * n + col + s * 16, sum[r][s], n, wmma::mem_row_major);
}
