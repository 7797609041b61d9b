// running sums along rows of 1024 bytes, eight bytes for each thread
extern "C" __global__ void integral_rows(const uint2 *in, uint4 *out)
{
    __shared__ unsigned sums[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    uint2 two = in[blockIdx.x * 128 + t];
    unsigned v[8], sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        sum += (k < 4 ? two.x : two.y) >> k % 4 * 8 & 255;
        v[k] = sum;
    }
    unsigned all = sum;
    for (int d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(~0u, all, d);
        if (lane >= d) all += other;
    }
    if (lane == 31) sums[warp] = all;
    __syncthreads();
    unsigned before = all - sum;
    for (int w = 0; w < warp; w++) before += sums[w];
    out[(blockIdx.x * 128 + t) * 2] = make_uint4(v[0] + before, v[1] + before, v[2] + before, v[3] + before);
    out[(blockIdx.x * 128 + t) * 2 + 1] = make_uint4(v[4] + before, v[5] + before, v[6] + before, v[7] + before);
}
