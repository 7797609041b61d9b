// Two-dimensional discrete cosine transform (DCT-II, orthonormal) of every 8 x 8 block of an image. A CTA of 64 threads has
// a tile of 32 x 16 pixels, eight blocks, in shared memory; eight threads share a block. Each transforms one column of it in
// registers and puts it back, and then one row.

#define N 8
#define TILE_WIDTH 32
#define TILE_HEIGHT 16
#define PITCH (TILE_WIDTH + 1)  // one word of padding keeps the row pass free of bank conflicts

// One-dimensional transform of eight values `step` words apart, in place: sums and differences of mirrored pairs feed the
// even and the odd coefficients.
__device__ __forceinline__ void transform(float* values, int step)
{
    const float c1 = 0.49039264f, c2 = 0.46193977f, c3 = 0.41573481f, c4 = 0.35355339f;
    const float c5 = 0.27778512f, c6 = 0.19134172f, c7 = 0.09754516f;
    const float x0 = values[0 * step], x1 = values[1 * step], x2 = values[2 * step], x3 = values[3 * step];
    const float x4 = values[4 * step], x5 = values[5 * step], x6 = values[6 * step], x7 = values[7 * step];
    const float s0 = x0 + x7, s1 = x1 + x6, s2 = x2 + x5, s3 = x3 + x4;
    const float d0 = x0 - x7, d1 = x1 - x6, d2 = x2 - x5, d3 = x3 - x4;
    values[0 * step] = c4 * (s0 + s1 + s2 + s3);
    values[1 * step] = c1 * d0 + c3 * d1 + c5 * d2 + c7 * d3;
    values[2 * step] = c2 * (s0 - s3) + c6 * (s1 - s2);
    values[3 * step] = c3 * d0 - c7 * d1 - c1 * d2 - c5 * d3;
    values[4 * step] = c4 * (s0 - s1 - s2 + s3);
    values[5 * step] = c5 * d0 - c1 * d1 + c7 * d2 + c3 * d3;
    values[6 * step] = c6 * (s0 - s3) - c2 * (s1 - s2);
    values[7 * step] = c7 * d0 - c5 * d1 + c3 * d2 - c1 * d3;
}

extern "C" __global__ void dct8x8(const float* image, float* coefficients, int width)
{
    __shared__ float tile[TILE_HEIGHT * PITCH];
    // Threads 0 to 31 have the upper four blocks, 32 to 63 the lower four: x is the pixel column of the tile.
    const int x = threadIdx.x;
    const int top = threadIdx.y * N;
    const int place = (blockIdx.y * TILE_HEIGHT + top) * width + blockIdx.x * TILE_WIDTH + x;

#pragma unroll
    for (int row = 0; row < N; ++row)
        tile[(top + row) * PITCH + x] = image[place + row * width] - 128.0f;
    transform(tile + top * PITCH + x, PITCH);
    __syncthreads();
    transform(tile + (top + x % N) * PITCH + x - x % N, 1);
    __syncthreads();
#pragma unroll
    for (int row = 0; row < N; ++row)
        coefficients[place + row * width] = tile[(top + row) * PITCH + x];
}
