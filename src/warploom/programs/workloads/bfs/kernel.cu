// Breadth-first search, level by level, one thread a node. `expand` visits the neighbours of the nodes of the current level,
// `settle` makes the nodes that were found the next level and tells the host that there is one. Nodes have different numbers
// of neighbours, so warps diverge.

#define THREADS 512

extern "C" __global__ void expand(const int* first_edge, const int* edges, unsigned char* level, unsigned char* found,
                                  const unsigned char* visited, int* cost, int nodes)
{
    const int node = blockIdx.x * THREADS + threadIdx.x;
    if (node >= nodes || !level[node])
        return;
    level[node] = 0;
    const int end = first_edge[node + 1];
    for (int edge = first_edge[node]; edge < end; ++edge) {
        const int neighbour = edges[edge];
        if (!visited[neighbour]) {
            cost[neighbour] = cost[node] + 1;
            found[neighbour] = 1;
        }
    }
}

extern "C" __global__ void settle(unsigned char* level, unsigned char* found, unsigned char* visited, int* changed,
                                  int nodes)
{
    const int node = blockIdx.x * THREADS + threadIdx.x;
    if (node >= nodes || !found[node])
        return;
    level[node] = 1;
    visited[node] = 1;
    found[node] = 0;
    *changed = 1;
}
