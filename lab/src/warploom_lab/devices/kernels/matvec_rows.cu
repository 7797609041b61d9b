// matrix times vector, a row for each warp
extern "C" __global__ void matvec_rows(const float4 *a, const float4 *x, float *y, int columns)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < columns / 4; k += 32) {
        float4 u = a[row * (columns / 4) + k], v = x[k];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}
