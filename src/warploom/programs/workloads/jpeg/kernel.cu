// The transform stage of a JPEG encoder, in integers: level shift, 8 x 8 forward DCT with 13-bit cosines, quantisation, zig-zag
// order, and the number of bits that each block's coefficients will need. Eight threads share a block of pixels, one row or column
// each; a CTA of 64 threads works on eight blocks.

#define BLOCKS 8
#define BITS 13
#define KEPT 2  // fractional bits between the two passes

// cos(k pi / 16) / 2 in 13 bits; the even rows' cosines are those with even k.
#define C1 4017
#define C2 3784
#define C3 3406
#define C4 2896
#define C5 2276
#define C6 1567
#define C7 799

__constant__ unsigned char zigzag[64] = {
    0,  1,  5,  6,  14, 15, 27, 28, 2,  4,  7,  13, 16, 26, 29, 42, 3,  8,  12, 17, 25, 30, 41, 43, 9,  11, 18, 24, 31, 40, 44, 53,
    10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38, 46, 51, 55, 60, 21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57, 58, 62, 63};

// Eight-point DCT in place, scaled by 2^shift less than the full product.
__device__ __forceinline__ void transform(int (&x)[8], int shift)
{
    int round = 1 << (shift - 1);
    int s0 = x[0] + x[7], s1 = x[1] + x[6], s2 = x[2] + x[5], s3 = x[3] + x[4];
    int d0 = x[0] - x[7], d1 = x[1] - x[6], d2 = x[2] - x[5], d3 = x[3] - x[4];
    x[0] = (C4 * (s0 + s1 + s2 + s3) + round) >> shift;
    x[4] = (C4 * (s0 - s1 - s2 + s3) + round) >> shift;
    x[2] = (C2 * (s0 - s3) + C6 * (s1 - s2) + round) >> shift;
    x[6] = (C6 * (s0 - s3) - C2 * (s1 - s2) + round) >> shift;
    x[1] = (C1 * d0 + C3 * d1 + C5 * d2 + C7 * d3 + round) >> shift;
    x[3] = (C3 * d0 - C7 * d1 - C1 * d2 - C5 * d3 + round) >> shift;
    x[5] = (C5 * d0 - C1 * d1 + C7 * d2 + C3 * d3 + round) >> shift;
    x[7] = (C7 * d0 - C5 * d1 + C3 * d2 - C1 * d3 + round) >> shift;
}

extern "C" __global__ void __launch_bounds__(8 * BLOCKS)
jpeg_transform(const unsigned char* __restrict__ image, int width, const unsigned short* __restrict__ quantum,
               short* __restrict__ coefficients, int* __restrict__ block_bits)
{
    __shared__ int tile[BLOCKS][8][9];
    __shared__ short ordered[BLOCKS][64];
    __shared__ int bits[BLOCKS];
    int line = threadIdx.x;
    int block = threadIdx.y;
    int across = blockIdx.x * BLOCKS + block;

    // The eight pixels of a row come as two words.
    const uint2* row = (const uint2*)(image + (blockIdx.y * 8 + line) * width) + across;
    uint2 pixels = *row;
    int x[8];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        x[i] = (int)(pixels.x >> 8 * i & 255) - 128;
        x[4 + i] = (int)(pixels.y >> 8 * i & 255) - 128;
    }
    transform(x, BITS - KEPT);
#pragma unroll
    for (int i = 0; i < 8; i++)
        tile[block][line][i] = x[i];
    if (line == 0)
        bits[block] = 0;
    __syncthreads();

#pragma unroll
    for (int i = 0; i < 8; i++)
        x[i] = tile[block][i][line];
    transform(x, BITS + KEPT);

    int needed = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int divisor = quantum[8 * i + line];
        int magnitude = (abs(x[i]) + divisor / 2) / divisor;
        ordered[block][zigzag[8 * i + line]] = x[i] < 0 ? -magnitude : magnitude;
        if (magnitude)
            needed += 4 + 32 - __clz(magnitude);
    }
    atomicAdd(&bits[block], needed);
    __syncthreads();

    int number = blockIdx.y * gridDim.x * BLOCKS + across;
    ((uint4*)coefficients)[8 * number + line] = ((uint4*)ordered[block])[line];
    if (line == 0)
        block_bits[number] = bits[block];
}
