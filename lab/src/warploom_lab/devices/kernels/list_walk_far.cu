// every thread follows a list of its own through 128 MB, few warps
extern "C" __global__ void list_walk_far(const int *next, int *out, int steps)
{
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * 7919;
    for (int k = 0; k < steps; k++) at = (next[at] + at * 1664525 + 1013904223) & 33554431;
    out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
