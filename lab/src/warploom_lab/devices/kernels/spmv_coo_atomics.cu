// sparse product, an entry for each thread, sums in memory by atomics
extern "C" __global__ void spmv_coo_atomics(const int *row, const int *column, const float *value, const float *x, float *y)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&y[row[k]], value[k] * x[column[k]]);
}
