// a step of a search over a graph of 16,384 nodes with six edges each
extern "C" __global__ void frontier_expand(const int *frontier, const int *start, const int *edge, int *level, int *next, int *count, int depth)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, node = frontier[i];
    for (int e = start[node]; e < start[node + 1]; e++) {
        int to = edge[e];
        if (level[to] < 0 && atomicCAS(&level[to], -1, depth) == -1) next[atomicAdd(count, 1)] = to;
    }
}
