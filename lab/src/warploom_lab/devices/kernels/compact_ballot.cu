// stream compaction: votes and one atomic for each warp
extern "C" __global__ void compact_ballot(const unsigned *in, unsigned *counter, unsigned *out, int n)
{
    int lane = threadIdx.x & 31;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = in[i], votes = __ballot_sync(~0u, v % 5 < 2), base;
        if (lane == 0) base = atomicAdd(counter, (unsigned)__popc(votes));
        base = __shfl_sync(~0u, base, 0);
        if (votes >> lane & 1) out[base + __popc(votes & ((1u << lane) - 1))] = v;
    }
}
