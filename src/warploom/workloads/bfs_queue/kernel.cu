// Breadth-first search with a work queue. A thread expands one vertex of the frontier. Vertices reached for the first time go
// to a queue in shared memory, which the CTA appends to the next frontier in one piece; what does not fit goes there directly.

#define CAPACITY 1024

__device__ __forceinline__ void visit(int vertex, int depth, int* level, int* queue, int* queued, int* next, int* next_size)
{
    if (atomicCAS(&level[vertex], -1, depth) != -1)
        return;
    int slot = atomicAdd(queued, 1);
    if (slot < CAPACITY)
        queue[slot] = vertex;
    else
        next[atomicAdd(next_size, 1)] = vertex;
}

extern "C" __global__ void __launch_bounds__(512)
bfs_queue(const int* __restrict__ first_edge, const int* __restrict__ target, int* level,
          const int* __restrict__ frontier, int frontier_size, int* next, int* next_size, int depth)
{
    __shared__ int queue[CAPACITY];
    __shared__ int queued;
    __shared__ int base;

    if (threadIdx.x == 0)
        queued = 0;
    __syncthreads();

    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < frontier_size) {
        int vertex = frontier[index];
        int edge = first_edge[vertex];
        int end = first_edge[vertex + 1];
        // Four neighbours at a time, so that their levels are fetched together.
        for (; edge + 4 <= end; edge += 4) {
            int a = target[edge], b = target[edge + 1], c = target[edge + 2], d = target[edge + 3];
            int level_a = level[a], level_b = level[b], level_c = level[c], level_d = level[d];
            if (level_a < 0)
                visit(a, depth, level, queue, &queued, next, next_size);
            if (level_b < 0)
                visit(b, depth, level, queue, &queued, next, next_size);
            if (level_c < 0)
                visit(c, depth, level, queue, &queued, next, next_size);
            if (level_d < 0)
                visit(d, depth, level, queue, &queued, next, next_size);
        }
        for (; edge < end; edge++) {
            int a = target[edge];
            if (level[a] < 0)
                visit(a, depth, level, queue, &queued, next, next_size);
        }
    }
    __syncthreads();

    int count = min(queued, CAPACITY);
    if (threadIdx.x == 0)
        base = atomicAdd(next_size, count);
    __syncthreads();
    for (int slot = threadIdx.x; slot < count; slot += blockDim.x)
        next[base + slot] = queue[slot];
}
