// the best value of a knapsack of 1024 units for each CTA, rows of the table in shared memory
extern "C" __global__ void knapsack_rows(const int *weight, const int *value, int *out, int items)
{
    __shared__ int row[2][1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += 256) row[0][i] = 0;
    __syncthreads();
    for (int k = 0; k < items; k++) {
        int w = weight[blockIdx.x * items + k], v = value[blockIdx.x * items + k], now = k & 1;
        for (int i = t; i < 1024; i += 256) row[now ^ 1][i] = i >= w ? max(row[now][i], row[now][i - w] + v) : row[now][i];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = row[items & 1][1023];
}
