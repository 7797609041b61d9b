// one level of a breadth-first search, a vertex for each thread; what is reached is marked in a second table by plain stores
extern "C" __global__ void bfs_level(const int *start, const int *edge, const int *level, int *next, int *changed, int now)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (level[v] != now) return;
    for (int k = start[v]; k < start[v + 1]; k++) {
        int to = edge[k];
        if (level[to] < 0) {
            next[to] = now + 1;
            *changed = 1;
        }
    }
}
