// a matrix of bytes times a vector of bytes, a row for each warp, scaled to floats
extern "C" __global__ void gemv_dp4a(const int4 *a, const int4 *x, const float *scale, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, sum = 0;
    for (int k = lane; k < 64; k += 32) {
        int4 u = a[row * 64 + k], v = x[k];
        sum = __dp4a(u.x, v.x, sum);
        sum = __dp4a(u.y, v.y, sum);
        sum = __dp4a(u.z, v.z, sum);
        sum = __dp4a(u.w, v.w, sum);
    }
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0) y[row] = sum * scale[row];
}
