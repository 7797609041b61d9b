// LU factors of a matrix of 6 x 6 for each thread, in registers; element e of matrix m is at e * count + m
extern "C" __global__ void lu_batched_registers(float *a, int count)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    float x[6][6];
#pragma unroll
    for (int e = 0; e < 36; e++) x[e / 6][e % 6] = a[e * count + m];
#pragma unroll
    for (int k = 0; k < 6; k++) {
        float inverse = 1.0f / x[k][k];
#pragma unroll
        for (int r = k + 1; r < 6; r++) {
            x[r][k] *= inverse;
#pragma unroll
            for (int c = k + 1; c < 6; c++) x[r][c] -= x[r][k] * x[k][c];
        }
    }
#pragma unroll
    for (int e = 0; e < 36; e++) a[e * count + m] = x[e / 6][e % 6];
}
