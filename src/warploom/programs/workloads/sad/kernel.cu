// Full-search motion estimation of a video encoder: the sum of absolute differences (SAD) between every 4 x 4 block of a
// frame and the reference frame, displaced by every vector within 16 pixels (33 x 33 = 1089 positions), and from these the
// sums for blocks of 8 x 8 and 16 x 16.

#define RANGE 16  // at most
#define ACROSS (2 * RANGE + 1)
#define POSITIONS (ACROSS * ACROSS)
#define POSITIONS_PER_THREAD 18
#define AT_ONCE 17  // sums that a thread writes together
#define THREADS 61  // 61 threads of 18 positions cover all 1089

// One 4 x 4 block a CTA. The block's 16 pixels lie in shared memory; pixels of the reference come through a texture, which
// repeats the frame's edge. A thread goes through 18 neighbouring positions, row after row of the block, and leaves the sums in
// shared memory, from where the CTA writes them in the order of positions, most of a thread's on their way at once.
extern "C" __global__ void __launch_bounds__(THREADS)
    sad4(const unsigned char* frame, cudaTextureObject_t reference, unsigned short* sads, int width, int range)
{
    __shared__ int4 pixels[4];
    __shared__ unsigned short sums[POSITIONS];
    const int across = 2 * range + 1;
    const int positions = across * across;
    const int t = threadIdx.x;
    if (t < 16)
        ((int*)pixels)[t] = frame[(blockIdx.y * 4 + t / 4) * width + blockIdx.x * 4 + t % 4];
    __syncthreads();

    const int end = min((t + 1) * POSITIONS_PER_THREAD, positions);
#pragma unroll 1
    for (int position = t * POSITIONS_PER_THREAD; position < end; ++position) {
        const int dy = position / across;
        const int dx = position - dy * across;
        const float x = (float)((int)blockIdx.x * 4 + dx - range);
        float y = (float)((int)blockIdx.y * 4 + dy - range);
        int sum = 0;
#pragma unroll 1
        for (int row = 0; row < 4; ++row) {
            const int4 pixel = pixels[row];
            sum += abs(pixel.x - (int)tex2D<unsigned char>(reference, x, y));
            sum += abs(pixel.y - (int)tex2D<unsigned char>(reference, x + 1.0f, y));
            sum += abs(pixel.z - (int)tex2D<unsigned char>(reference, x + 2.0f, y));
            sum += abs(pixel.w - (int)tex2D<unsigned char>(reference, x + 3.0f, y));
            y += 1.0f;
        }
        sums[position] = (unsigned short)sum;
    }
    __syncthreads();

    unsigned short* const out = sads + (blockIdx.y * gridDim.x + blockIdx.x) * positions;
    unsigned short sum[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i)
        sum[i] = i * THREADS + t < positions ? sums[i * THREADS + t] : 0;
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i)
        if (i * THREADS + t < positions)
            out[i * THREADS + t] = sum[i];
#pragma unroll 1
    for (int position = AT_ONCE * THREADS + t; position < positions; position += THREADS)
        out[position] = sums[position];
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
