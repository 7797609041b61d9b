// One level of the two-dimensional CDF 9/7 wavelet transform by lifting. A thread lifts a column of 24 rows (and four more at
// either side) in registers. Eight rows at a time then go through shared memory, and the same lifting runs along them.

#define THREADS 128
#define HALO 4
#define ROWS 24                    // that a CTA yields
#define SPAN 8                     // samples of a row that one thread lifts
#define TILE (THREADS - 2 * HALO)  // columns that a CTA yields: 15 spans
#define PITCH (THREADS + 1)        // spreads the rows over the banks of shared memory

__device__ __forceinline__ int mirrored(int index, int length)
{
    index = abs(index);
    return index < length ? index : 2 * (length - 1) - index;
}

// The middle of the window becomes low (even) and high (odd) samples; the halo at either end is used up.
template <int WINDOW>
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
    for (int i = HALO; i < WINDOW - HALO; i += 2) {
        x[i] *= 0.8128930655f;
        x[i + 1] *= 1.230174105f;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
dwt97(const float* __restrict__ image, int width, int height, float* __restrict__ approximation, float* __restrict__ detail,
      int detail_pitch)
{
    __shared__ float tile[SPAN * PITCH];
    int left = blockIdx.x * TILE;
    int top = blockIdx.y * ROWS;
    const float* column = image + max(mirrored(left - HALO + (int)threadIdx.x, width), 0);
    float x[ROWS + 2 * HALO];
    if (top >= HALO && top + ROWS + HALO <= height) {
        column += (top - HALO) * width;
#pragma unroll
        for (int i = 0; i < ROWS + 2 * HALO; i++)
            x[i] = column[i * width];
    } else {
#pragma unroll
        for (int i = 0; i < ROWS + 2 * HALO; i++)
            x[i] = column[max(mirrored(top - HALO + i, height), 0) * width];
    }
    lift(x);

    // Along rows, eight rows of 15 spans keep 120 threads busy. Then the low half of the threads stores even columns, the low
    // band, and the high half odd ones.
    float* span = tile + threadIdx.x % SPAN * PITCH + threadIdx.x / SPAN * SPAN;
    bool lifts = threadIdx.x < TILE;
    int high = threadIdx.x >= TILE / 2;
    int within = threadIdx.x - high * (TILE / 2);
    int x_out = left / 2 + within;
    bool stores = lifts && 2 * x_out + high < width;
#pragma unroll
    for (int first = 0; first < ROWS; first += SPAN) {
        if (first > 0)
            __syncthreads();
#pragma unroll
        for (int i = 0; i < SPAN; i++)
            tile[i * PITCH + threadIdx.x] = x[HALO + first + i];
        __syncthreads();
        float row[SPAN + 2 * HALO];
        if (lifts) {
#pragma unroll
            for (int i = 0; i < SPAN + 2 * HALO; i++)
                row[i] = span[i];
            lift(row);
        }
        __syncthreads();
        if (lifts) {
#pragma unroll
            for (int i = 0; i < SPAN; i++)
                span[i] = row[HALO + i];
        }
        __syncthreads();
        if (stores) {
            int rows = min(SPAN, height - top - first);
#pragma unroll 1
            for (int i = 0; i < rows; i += 2) {
                int y_out = (top + first + i) / 2;
                float upper = tile[i * PITCH + 2 * within + high];
                if (high)
                    detail[y_out * detail_pitch + width / 2 + x_out] = upper;
                else
                    approximation[y_out * (width / 2) + x_out] = upper;
                float lower = tile[(i + 1) * PITCH + 2 * within + high];
                detail[(height / 2 + y_out) * detail_pitch + high * (width / 2) + x_out] = lower;
            }
        }
    }
}
