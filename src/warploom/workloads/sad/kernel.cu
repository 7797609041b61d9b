// Full-search motion estimation of a video encoder: the sum of absolute differences (SAD) between every 4 x 4 block of a
// frame and the reference frame, displaced by every vector within 16 pixels (33 x 33 = 1089 positions), and from these the
// sums for blocks of 8 x 8 and 16 x 16.

#define RANGE 16
#define ACROSS (2 * RANGE + 1)
#define POSITIONS (ACROSS * ACROSS)
#define POSITIONS_PER_THREAD 18
#define THREADS 61  // 61 threads of 18 positions cover all 1089

// One 4 x 4 block a CTA. A thread keeps the block's 16 pixels in registers and goes through 18 neighbouring positions;
// pixels of the reference come through a texture, which repeats the frame's edge.
extern "C" __global__ void __launch_bounds__(THREADS)
    sad4(const unsigned char* frame, cudaTextureObject_t reference, unsigned short* sads, int width)
{
    const int left = blockIdx.x * 4;
    const int top = blockIdx.y * 4;
    const unsigned char* const corner = frame + top * width + left;
    int pixels[4][4];
#pragma unroll
    for (int row = 0; row < 4; ++row)
#pragma unroll
        for (int column = 0; column < 4; ++column)
            pixels[row][column] = corner[row * width + column];

    const int first = threadIdx.x * POSITIONS_PER_THREAD;
    const int end = min(first + POSITIONS_PER_THREAD, POSITIONS);
    unsigned short* const out = sads + (blockIdx.y * gridDim.x + blockIdx.x) * POSITIONS;
    int dy = first / ACROSS;
    int dx = first % ACROSS;
#pragma unroll 1
    for (int position = first; position < end; ++position) {
        const float x = (float)(left + dx - RANGE);
        const float y = (float)(top + dy - RANGE);
        int sum = 0;
#pragma unroll
        for (int row = 0; row < 4; ++row)
#pragma unroll
            for (int column = 0; column < 4; ++column)
                sum += abs(pixels[row][column] - (int)tex2D<unsigned char>(reference, x + column, y + row));
        out[position] = (unsigned short)sum;
        if (++dx == ACROSS) {
            dx = 0;
            ++dy;
        }
    }
}

// Adds four neighbouring blocks' sums into one of the next size: one larger block a CTA, grid.x blocks across.
extern "C" __global__ void larger(const unsigned short* smaller, unsigned short* sads)
{
    const unsigned short* const upper = smaller + 2 * (blockIdx.y * 2 * gridDim.x + blockIdx.x) * POSITIONS;
    const unsigned short* const lower = upper + 2 * gridDim.x * POSITIONS;
    unsigned short* const out = sads + (blockIdx.y * gridDim.x + blockIdx.x) * POSITIONS;
    for (int position = threadIdx.x; position < POSITIONS; position += blockDim.x)
        out[position] = (unsigned short)(upper[position] + upper[POSITIONS + position] + lower[position]
                                         + lower[POSITIONS + position]);
}
