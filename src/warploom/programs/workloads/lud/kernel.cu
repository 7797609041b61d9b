// LU decomposition without pivoting, in place, in blocks of 16 x 16. For each diagonal block: `diagonal` factors it (16
// threads), `perimeter` solves for the blocks to its right and below it (32 threads a CTA: half a warp a strip, on different
// paths), `internal` updates the rest (16 x 16 threads).

#define B 16

extern "C" __global__ void diagonal(float* matrix, int n, int offset)
{
    __shared__ float block[B][B];
    const int t = threadIdx.x;
    float* const corner = matrix + offset * n + offset;
    for (int row = 0; row < B; ++row)
        block[row][t] = corner[row * n + t];
    __syncthreads();
    for (int pivot = 0; pivot < B - 1; ++pivot) {
        if (t > pivot) {
            for (int k = 0; k < pivot; ++k)
                block[t][pivot] -= block[t][k] * block[k][pivot];
            block[t][pivot] /= block[pivot][pivot];
        }
        __syncthreads();
        if (t > pivot)
            for (int k = 0; k <= pivot; ++k)
                block[pivot + 1][t] -= block[pivot + 1][k] * block[k][t];
        __syncthreads();
    }
    for (int row = 0; row < B; ++row)
        corner[row * n + t] = block[row][t];
}

extern "C" __global__ void perimeter(float* matrix, int n, int offset)
{
    __shared__ float factor[B][B];
    __shared__ float right[B][B];
    __shared__ float below[B][B];
    const int t = threadIdx.x % B;
    const int half = threadIdx.x / B;
    const int away = offset + (blockIdx.x + 1) * B;
    float* const right_corner = matrix + offset * n + away;
    float* const below_corner = matrix + away * n + offset;

    for (int row = half; row < B; row += 2) {
        factor[row][t] = matrix[(offset + row) * n + offset + t];
        right[row][t] = right_corner[row * n + t];
        below[row][t] = below_corner[row * n + t];
    }
    __syncthreads();
    if (half == 0) {  // a column of the right strip: forward substitution with the unit lower triangle
        for (int row = 1; row < B; ++row) {
            float value = right[row][t];
            for (int k = 0; k < row; ++k)
                value -= factor[row][k] * right[k][t];
            right[row][t] = value;
        }
    } else {  // a row of the lower strip: substitution with the upper triangle
        for (int column = 0; column < B; ++column) {
            float value = below[t][column];
            for (int k = 0; k < column; ++k)
                value -= below[t][k] * factor[k][column];
            below[t][column] = value / factor[column][column];
        }
    }
    __syncthreads();
    for (int row = half; row < B; row += 2) {
        right_corner[row * n + t] = right[row][t];
        below_corner[row * n + t] = below[row][t];
    }
}

extern "C" __global__ void internal(float* matrix, int n, int offset)
{
    __shared__ float right[B][B];
    __shared__ float below[B][B];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = offset + (blockIdx.y + 1) * B + y;
    const int column = offset + (blockIdx.x + 1) * B + x;
    right[y][x] = matrix[(offset + y) * n + column];
    below[y][x] = matrix[row * n + offset + x];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < B; ++k)
        sum += below[y][k] * right[k][x];
    matrix[row * n + column] -= sum;
}
