// C = A B. A CTA of 16 x 16 threads makes one tile of C, one element a thread, and walks along the inner dimension tile by
// tile: both tiles are staged in shared memory, so every element of A and B is fetched once per CTA that needs it.

#define TILE 16

extern "C" __global__ void matrixmul(const float* a, const float* b, float* c, int inner, int width)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * TILE + y;
    const int column = blockIdx.x * TILE + x;

    float sum = 0.0f;
    for (int start = 0; start < inner; start += TILE) {
        tile_a[y][x] = a[row * inner + start + x];
        tile_b[y][x] = b[(start + y) * width + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
    }
    c[row * width + column] = sum;
}
