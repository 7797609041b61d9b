// sparse product, rows padded to one width and stored by columns
extern "C" __global__ void spmv_ell(const int *column, const float *value, const float *x, float *y, int rows, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < width; k++) sum += value[k * rows + row] * x[column[k * rows + row]];
    y[row] = sum;
}
