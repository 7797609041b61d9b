// scan of 1024 elements in a CTA by shuffles
extern "C" __global__ void scan_shuffle(const int *in, int *out)
{
    __shared__ int sums[32];
    int t = threadIdx.x, lane = t & 31, i = blockIdx.x * 1024 + t, v = in[i];
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += other;
    }
    if (lane == 31) sums[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        int s = sums[t];
        for (int d = 1; d < 32; d *= 2) {
            int other = __shfl_up_sync(~0u, s, d);
            if (lane >= d) s += other;
        }
        sums[t] = s;
    }
    __syncthreads();
    out[i] = v + (t >= 32 ? sums[t / 32 - 1] : 0);
}
