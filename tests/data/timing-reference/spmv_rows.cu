extern "C" __global__ void spmv_rows(const int *first, const int *column, const float *value, const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int at = first[row]; at < first[row + 1]; at++) sum += value[at] * x[column[at]];
        y[row] = sum;
    }
}
