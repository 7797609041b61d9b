// sums by key: lanes of equal keys find each other by a match, the first of them adds to shared memory
extern "C" __global__ void match_groups(const unsigned *key, const int *value, int *sums)
{
    __shared__ int s[24];
    if (threadIdx.x < 24) s[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * 256 + threadIdx.x;
        unsigned mine = key[i], same = __match_any_sync(~0u, mine);
        int v = value[i], sum = 0;
        for (int from = 0; from < 32; from++) {
            int other = __shfl_sync(~0u, v, from);
            if (same >> from & 1) sum += other;
        }
        if ((threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&s[mine], sum);
    }
    __syncthreads();
    if (threadIdx.x < 24) atomicAdd(&sums[threadIdx.x], s[threadIdx.x]);
}
