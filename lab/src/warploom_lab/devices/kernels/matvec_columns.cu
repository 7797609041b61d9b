// the transposed product, a column for each thread
extern "C" __global__ void matvec_columns(const float *a, const float *x, float *y, int rows, int columns)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int r = 0; r < rows; r++) sum += a[r * columns + c] * x[r];
    y[c] = sum;
}
