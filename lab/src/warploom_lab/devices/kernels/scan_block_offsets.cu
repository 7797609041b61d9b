// inclusive sums of 2048 numbers for each CTA, eight in a thread, behind the totals of all CTAs before it
extern "C" __global__ void scan_block_offsets(const int4 *in, const int *totals, int4 *out)
{
    __shared__ int sums[8], before;
    int t = threadIdx.x, lane = t % 32, warp = t / 32, mine = 0;
    if (t == 0) before = 0;
    __syncthreads();
    for (int b = t; b < blockIdx.x; b += 256) mine += totals[b];
    for (int d = 16; d; d >>= 1) mine += __shfl_down_sync(~0u, mine, d);
    if (lane == 0) atomicAdd(&before, mine);
    int4 p = in[blockIdx.x * 512 + t * 2], q = in[blockIdx.x * 512 + t * 2 + 1];
    p.y += p.x; p.z += p.y; p.w += p.z;
    q.x += p.w; q.y += q.x; q.z += q.y; q.w += q.z;
    int sum = q.w;
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    int offset = before + sum - q.w;
    for (int w = 0; w < warp; w++) offset += sums[w];
    p.x += offset; p.y += offset; p.z += offset; p.w += offset;
    q.x += offset; q.y += offset; q.z += offset; q.w += offset;
    out[blockIdx.x * 512 + t * 2] = p;
    out[blockIdx.x * 512 + t * 2 + 1] = q;
}
