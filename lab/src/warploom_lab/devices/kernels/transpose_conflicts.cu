// through shared memory without padding: 32 lanes in one bank
extern "C" __global__ void transpose_conflicts(const float *in, float *out, int n)
{
    __shared__ float s[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32, y = blockIdx.y * 32;
    for (int j = ty; j < 32; j += 8) s[j][tx] = in[(y + j) * n + x + tx];
    __syncthreads();
    for (int j = ty; j < 32; j += 8) out[(x + j) * n + y + tx] = s[tx][j];
}
