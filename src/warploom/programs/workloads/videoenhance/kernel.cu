// Enhances a video frame, pixel by pixel: blends with the frame before where nothing moves, sharpens the brightness against its
// 3 x 3 neighbourhood, stretches contrast, lifts colour, and packs the result to bytes again. Brightness of a 32 x 8 tile and
// its border lies in shared memory.

#define WIDTH 32
#define HEIGHT 8

__device__ __forceinline__ float luma(unsigned pixel)
{
    return 0.299f * (pixel & 255) + 0.587f * (pixel >> 8 & 255) + 0.114f * (pixel >> 16 & 255);
}

__device__ __forceinline__ unsigned byte(float value)
{
    return (unsigned)(fminf(fmaxf(value, 0.0f), 255.0f) + 0.5f);
}

extern "C" __global__ void __launch_bounds__(WIDTH * HEIGHT)
enhance(const unsigned* __restrict__ frame, const unsigned* __restrict__ before, unsigned* __restrict__ out, int width,
        int height, float sharpness, float contrast, float saturation, float motion_scale)
{
    __shared__ float tile[HEIGHT + 2][WIDTH + 2];
    int left = blockIdx.x * WIDTH - 1;
    int top = blockIdx.y * HEIGHT - 1;
    int thread = threadIdx.y * WIDTH + threadIdx.x;
    for (int i = thread; i < (HEIGHT + 2) * (WIDTH + 2); i += WIDTH * HEIGHT) {
        int row = i / (WIDTH + 2);
        int column = i - row * (WIDTH + 2);
        int x = min(max(left + column, 0), width - 1);
        int y = min(max(top + row, 0), height - 1);
        tile[row][column] = luma(frame[y * width + x]);
    }
    __syncthreads();

    int x = left + 1 + threadIdx.x;
    int y = top + 1 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    unsigned now = frame[y * width + x];
    unsigned then = before[y * width + x];
    float around = 0.0f;
#pragma unroll
    for (int dy = 0; dy < 3; dy++)
#pragma unroll
        for (int dx = 0; dx < 3; dx++)
            around += tile[threadIdx.y + dy][threadIdx.x + dx];
    float bright = tile[threadIdx.y + 1][threadIdx.x + 1];
    float difference = luma(then) - bright;

    // The share of the frame before falls with the square of what moved.
    float keep = 0.5f * __expf(-difference * difference * motion_scale);
    float red = (now & 255) + keep * ((float)(then & 255) - (float)(now & 255));
    float green = (now >> 8 & 255) + keep * ((float)(then >> 8 & 255) - (float)(now >> 8 & 255));
    float blue = (now >> 16 & 255) + keep * ((float)(then >> 16 & 255) - (float)(now >> 16 & 255));
    float base = 0.299f * red + 0.587f * green + 0.114f * blue;

    float sharp = base + sharpness * (bright - around * (1.0f / 9.0f));
    float curved = (sharp - 128.0f) * (1.0f / 128.0f);
    float target = 128.0f + 128.0f * curved * (contrast - (contrast - 1.0f) * curved * curved);
    out[y * width + x] = byte(target + saturation * (red - base)) | byte(target + saturation * (green - base)) << 8
                         | byte(target + saturation * (blue - base)) << 16 | (now & 0xff000000u);
}
