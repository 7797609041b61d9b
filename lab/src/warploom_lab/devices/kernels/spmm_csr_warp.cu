// sparse matrix times 32 dense columns, a row for each warp
extern "C" __global__ void spmm_csr_warp(const int *start, const int *column, const float *value, const float *b, float *c)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, end = start[row + 1];
    float sum = 0;
    for (int k = start[row]; k < end; k++) sum += value[k] * b[column[k] * 32 + lane];
    c[row * 32 + lane] = sum;
}
