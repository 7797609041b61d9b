// the tree with a modulo, half of the lanes idle at every step, sums of f64
extern "C" __global__ void reduce_divergent(const double *a, double *out)
{
    __shared__ double s[256];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
