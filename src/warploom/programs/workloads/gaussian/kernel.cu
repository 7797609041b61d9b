// Gaussian elimination, one column a round: `multipliers` divides the column below the pivot by the pivot, `eliminate`
// subtracts the pivot's row, times the multipliers, from the rows below it and from the right-hand side.

#define THREADS 512
#define BLOCK 16

extern "C" __global__ void multipliers(const float* matrix, float* multiplier, int n, int pivot)
{
    const int below = blockIdx.x * THREADS + threadIdx.x;
    if (below >= n - 1 - pivot)
        return;
    const int row = pivot + 1 + below;
    multiplier[row * n + pivot] = matrix[row * n + pivot] / matrix[pivot * n + pivot];
}

extern "C" __global__ void eliminate(float* matrix, float* right, const float* multiplier, int n, int pivot)
{
    const int below = blockIdx.y * BLOCK + threadIdx.y;
    const int across = blockIdx.x * BLOCK + threadIdx.x;
    if (below >= n - 1 - pivot || across >= n - pivot)
        return;
    const int row = pivot + 1 + below;
    const int column = pivot + across;
    const float factor = multiplier[row * n + pivot];
    matrix[row * n + column] -= factor * matrix[pivot * n + column];
    if (across == 0)
        right[row] -= factor * right[pivot];
}
