// One level of the two-dimensional CDF 9/7 wavelet transform by lifting. A thread lifts a column of 12 rows (and four more at
// either side) in registers; the tile then goes through shared memory, and the same lifting runs along its rows.

#define THREADS 128
#define SPAN 12                       // samples that one lifting yields
#define HALO 4
#define WINDOW (SPAN + 2 * HALO)
#define TILE (THREADS - 2 * HALO)     // columns that a CTA yields: 120, ten spans
#define PITCH (THREADS + 1)           // avoids bank conflicts along columns

__device__ __forceinline__ int mirrored(int index, int length)
{
    index = abs(index);
    return index < length ? index : 2 * (length - 1) - index;
}

__device__ __forceinline__ void lift(float (&x)[WINDOW])
{
#pragma unroll
    for (int i = 1; i <= WINDOW - 3; i += 2)
        x[i] += -1.586134342f * (x[i - 1] + x[i + 1]);
#pragma unroll
    for (int i = 2; i <= WINDOW - 4; i += 2)
        x[i] += -0.05298011854f * (x[i - 1] + x[i + 1]);
#pragma unroll
    for (int i = 3; i <= WINDOW - 5; i += 2)
        x[i] += 0.8829110762f * (x[i - 1] + x[i + 1]);
#pragma unroll
    for (int i = 4; i <= WINDOW - 6; i += 2)
        x[i] += 0.4435068522f * (x[i - 1] + x[i + 1]);
#pragma unroll
    for (int i = HALO; i < HALO + SPAN; i += 2) {
        x[i] *= 0.8128930655f;
        x[i + 1] *= 1.230174105f;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
dwt97(const float* __restrict__ image, int width, int height, float* approximation, float* detail, int detail_pitch)
{
    __shared__ float tile[SPAN * PITCH];
    int left = blockIdx.x * TILE;
    int top = blockIdx.y * SPAN;
    float x[WINDOW];

    const float* column = image + max(mirrored(left - HALO + (int)threadIdx.x, width), 0);
    if (top >= HALO && top + SPAN + HALO <= height) {
        column += (top - HALO) * width;
#pragma unroll
        for (int i = 0; i < WINDOW; i++)
            x[i] = column[i * width];
    } else {
#pragma unroll
        for (int i = 0; i < WINDOW; i++)
            x[i] = column[mirrored(top - HALO + i, height) * width];
    }
    lift(x);
#pragma unroll
    for (int i = 0; i < SPAN; i++)
        tile[i * PITCH + threadIdx.x] = x[HALO + i];
    __syncthreads();

    // Along rows: twelve rows of ten spans keep 120 threads busy.
    int row = threadIdx.x % SPAN;
    int span = threadIdx.x / SPAN * SPAN;
    bool lifts = threadIdx.x < TILE;
    if (lifts) {
#pragma unroll
        for (int i = 0; i < WINDOW; i++)
            x[i] = tile[row * PITCH + span + i];
        lift(x);
    }
    __syncthreads();
    if (lifts) {
#pragma unroll
        for (int i = 0; i < SPAN; i++)
            tile[row * PITCH + span + i] = x[HALO + i];
    }
    __syncthreads();

    // Even samples are the low band, odd ones the high band: each thread stores one column of either.
    int high = threadIdx.x >= TILE / 2;
    int within = threadIdx.x - high * (TILE / 2);
    int x_out = left / 2 + within;
    if (lifts && 2 * x_out + high < width) {
        int columns = width / 2;
        int rows = min(SPAN, height - top);
        for (int i = 0; i < rows; i += 2) {
            int y_out = (top + i) / 2;
            float low = tile[i * PITCH + 2 * within + high];
            if (high)
                detail[y_out * detail_pitch + columns + x_out] = low;
            else
                approximation[y_out * columns + x_out] = low;
            detail[(height / 2 + y_out) * detail_pitch + high * columns + x_out] = tile[(i + 1) * PITCH + 2 * within + high];
        }
    }
}
