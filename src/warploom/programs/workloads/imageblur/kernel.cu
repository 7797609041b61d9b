// Separable Gaussian blur with 17 taps: one kernel along rows, one along columns, each with a tile and its border in shared
// memory. Four outputs a thread, so that borders are a small share of what is loaded.

#define RADIUS 8
#define TAPS (2 * RADIUS + 1)
#define OUTPUTS 4
#define ROW_X 32
#define ROW_Y 4
#define COLUMN_X 16
#define COLUMN_Y 8

__device__ __forceinline__ int inside(int index, int length)
{
    return min(max(index, 0), length - 1);
}

extern "C" __global__ void __launch_bounds__(ROW_X * ROW_Y)
blur_rows(const float* __restrict__ in, float* __restrict__ out, int width, int height, const float* __restrict__ taps)
{
    __shared__ float tile[ROW_Y][OUTPUTS * ROW_X + 2 * RADIUS];
    __shared__ float weight[TAPS];
    int x = blockIdx.x * OUTPUTS * ROW_X + threadIdx.x;
    int y = blockIdx.y * ROW_Y + threadIdx.y;
    const float* row = in + inside(y, height) * width;
    if (threadIdx.y == 0 && threadIdx.x < TAPS)
        weight[threadIdx.x] = taps[threadIdx.x];
#pragma unroll
    for (int i = 0; i < OUTPUTS; i++)
        tile[threadIdx.y][RADIUS + i * ROW_X + threadIdx.x] = row[inside(x + i * ROW_X, width)];
    if (threadIdx.x < RADIUS) {
        tile[threadIdx.y][threadIdx.x] = row[inside(x - RADIUS, width)];
        tile[threadIdx.y][RADIUS + OUTPUTS * ROW_X + threadIdx.x] = row[inside(x + OUTPUTS * ROW_X, width)];
    }
    __syncthreads();

    float sum[OUTPUTS] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int tap = 0; tap < TAPS; tap++) {
        float share = weight[tap];
#pragma unroll
        for (int i = 0; i < OUTPUTS; i++)
            sum[i] += share * tile[threadIdx.y][i * ROW_X + threadIdx.x + tap];
    }
#pragma unroll
    for (int i = 0; i < OUTPUTS; i++)
        if (x + i * ROW_X < width && y < height)
            out[y * width + x + i * ROW_X] = sum[i];
}

extern "C" __global__ void __launch_bounds__(COLUMN_X * COLUMN_Y)
blur_columns(const float* __restrict__ in, float* __restrict__ out, int width, int height, const float* __restrict__ taps)
{
    __shared__ float tile[OUTPUTS * COLUMN_Y + 2 * RADIUS][COLUMN_X];
    __shared__ float weight[TAPS];
    int x = blockIdx.x * COLUMN_X + threadIdx.x;
    int y = blockIdx.y * OUTPUTS * COLUMN_Y + threadIdx.y;
    const float* column = in + inside(x, width);
    int thread = threadIdx.y * COLUMN_X + threadIdx.x;
    if (thread < TAPS)
        weight[thread] = taps[thread];
#pragma unroll
    for (int i = -1; i <= OUTPUTS; i++)
        tile[RADIUS + i * COLUMN_Y + threadIdx.y][threadIdx.x] = column[inside(y + i * COLUMN_Y, height) * width];
    __syncthreads();

    float sum[OUTPUTS] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int tap = 0; tap < TAPS; tap++) {
        float share = weight[tap];
#pragma unroll
        for (int i = 0; i < OUTPUTS; i++)
            sum[i] += share * tile[i * COLUMN_Y + threadIdx.y + tap][threadIdx.x];
    }
#pragma unroll
    for (int i = 0; i < OUTPUTS; i++)
        if (x < width && y + i * COLUMN_Y < height)
            out[(y + i * COLUMN_Y) * width + x] = sum[i];
}
