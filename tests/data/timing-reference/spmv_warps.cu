extern "C" __global__ void spmv_warps(const int *first, const int *column, const float *value, const float *x, float *y, int rows)
{
    __shared__ volatile float part[256];
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    float sum = 0.0f;
    if (row < rows)
        for (int at = first[row] + lane; at < first[row + 1]; at += 32) sum += value[at] * x[column[at]];
    part[threadIdx.x] = sum;
    for (int step = 16; step > 0; step >>= 1)
        if (lane < step) part[threadIdx.x] = sum = sum + part[threadIdx.x + step];
    if (lane == 0 && row < rows) y[row] = sum;
}
