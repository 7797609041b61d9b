// common neighbours of pairs of vertices: two sorted lists of 16 walked side by side
extern "C" __global__ void triangle_count(const int *start, const int *edge, const int *pair, unsigned long long *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, a = pair[2 * i], b = pair[2 * i + 1], found = 0;
    int j = start[a], j1 = start[a + 1], k = start[b], k1 = start[b + 1];
    while (j < j1 && k < k1) {
        int x = edge[j], y = edge[k];
        found += x == y;
        j += x <= y;
        k += y <= x;
    }
    found = __reduce_add_sync(~0u, found);
    if (threadIdx.x % 32 == 0) atomicAdd(count, (unsigned long long)found);
}
