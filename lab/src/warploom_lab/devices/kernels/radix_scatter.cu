// a pass of radix sort: ranks of four-bit digits by ballots, then every key to its place; keys are ranked anew for each of four tiles
extern "C" __global__ void radix_scatter(const unsigned *keys, const unsigned *offset, unsigned *out)
{
    __shared__ unsigned count[8][16], base[16];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t < 16) base[t] = offset[blockIdx.x * 16 + t];
    for (int k = 0; k < 4; k++) {
        unsigned key = keys[blockIdx.x * 1024 + k * 256 + t], digit = key >> 12 & 15, same = ~0u;
#pragma unroll
        for (int b = 0; b < 4; b++) {
            unsigned votes = __ballot_sync(~0u, digit >> b & 1);
            same &= digit >> b & 1 ? votes : ~votes;
        }
        unsigned rank = __popc(same & ((1u << lane) - 1));
        if (lane < 16) count[warp][lane] = 0;
        __syncwarp();
        if (rank == 0) count[warp][digit] = __popc(same);
        __syncthreads();
        unsigned at = base[digit] + rank;
        for (int w = 0; w < warp; w++) at += count[w][digit];
        if (at < 409600u) out[at] = key;
        __syncthreads();
        if (t < 16)
            for (int w = 0; w < 8; w++) base[t] += count[w][t];
        __syncthreads();
    }
}
