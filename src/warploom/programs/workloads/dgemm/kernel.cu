// C = alpha A B + beta C in double precision, row-major. A CTA of 16 x 16 threads yields a tile of 32 x 32, each thread four
// elements a tile's half apart; slabs of A and B pass through shared memory.

#define SIDE 16
#define TILE (2 * SIDE)

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
dgemm(const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ c, int m, int n, int k, double alpha,
      double beta)
{
    __shared__ double a_slab[TILE][SIDE + 1];
    __shared__ double b_slab[SIDE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int column = blockIdx.x * TILE + tx;
    double sum00 = 0.0, sum01 = 0.0, sum10 = 0.0, sum11 = 0.0;

    for (int start = 0; start < k; start += SIDE) {
        a_slab[ty][tx] = a[row * k + start + tx];
        a_slab[ty + SIDE][tx] = a[(row + SIDE) * k + start + tx];
        b_slab[ty][tx] = b[(start + ty) * n + column];
        b_slab[ty][tx + SIDE] = b[(start + ty) * n + column + SIDE];
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < SIDE; i++) {
            double upper = a_slab[ty][i];
            double lower = a_slab[ty + SIDE][i];
            double left = b_slab[i][tx];
            double right = b_slab[i][tx + SIDE];
            sum00 += upper * left;
            sum01 += upper * right;
            sum10 += lower * left;
            sum11 += lower * right;
        }
        __syncthreads();
    }
    double* out = c + row * n + column;
    out[0] = alpha * sum00 + beta * out[0];
    out[SIDE] = alpha * sum01 + beta * out[SIDE];
    out += SIDE * n;
    out[0] = alpha * sum10 + beta * out[0];
    out[SIDE] = alpha * sum11 + beta * out[SIDE];
}
