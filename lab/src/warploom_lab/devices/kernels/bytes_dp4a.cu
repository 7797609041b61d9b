// products of four bytes at a time
extern "C" __global__ void bytes_dp4a(const int *a, const int *b, int *c, int n, int depth)
{
    __shared__ int as[16][17], bs[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, sum = 0;
    for (int k0 = 0; k0 < depth; k0 += 16) {
        as[ty][tx] = a[row * depth + k0 + tx];
        bs[ty][tx] = b[(blockIdx.x * 16 + ty) * depth + k0 + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) sum = __dp4a(as[ty][k], bs[tx][k], sum);
        __syncthreads();
    }
    c[row * n + col] = sum;
}
