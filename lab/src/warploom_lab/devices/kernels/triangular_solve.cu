// forward substitution with a lower triangle of 32 x 32 in shared memory, a right side for each thread
extern "C" __global__ void triangular_solve(const float *l, const float *b, float *x, int count)
{
    __shared__ float ls[32][32];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) ls[i / 32][i % 32] = l[i];
    __syncthreads();
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float v[32];
#pragma unroll
    for (int r = 0; r < 32; r++) {
        float sum = b[r * count + col];
#pragma unroll
        for (int k = 0; k < r; k++) sum -= ls[r][k] * v[k];
        v[r] = sum / ls[r][r];
        x[r * count + col] = v[r];
    }
}
