// C = alpha A B' + beta C in single precision, matrices stored by columns. A CTA of 16 x 8 threads makes 128 x 16 elements
// of C, one row of sixteen a thread, kept in registers; A comes straight from memory, B in slices of eight through shared
// memory.

#define COLUMNS 16
#define SLICE 8

extern "C" __global__ void sgemm(const float* a, int rows, const float* b, int columns, float* c, int inner, float alpha,
                                 float beta)
{
    __shared__ float slice[SLICE][COLUMNS];
    const int t = threadIdx.y * COLUMNS + threadIdx.x;
    const int row = blockIdx.x * (COLUMNS * SLICE) + t;
    const int first_column = blockIdx.y * COLUMNS;

    float sums[COLUMNS];
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i)
        sums[i] = 0.0f;
    for (int start = 0; start < inner; start += SLICE) {
        slice[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * columns + first_column + threadIdx.x];
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < SLICE; ++k) {
            const float value = a[(start + k) * rows + row];
#pragma unroll
            for (int i = 0; i < COLUMNS; ++i)
                sums[i] += value * slice[k][i];
        }
        __syncthreads();
    }
    float* out = c + first_column * rows + row;
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i)
        out[i * rows] = alpha * sums[i] + beta * out[i * rows];
}
