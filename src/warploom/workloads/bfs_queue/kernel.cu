// Breadth-first search with a work queue. A thread expands one vertex of the frontier. Vertices reached for the first time go
// to a queue in shared memory, which the CTA appends to the next frontier in one piece; what does not fit goes there directly.

#define CAPACITY 1024
#define BATCH 6

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
        // Several neighbours at a time, so that their levels are fetched together.
        for (; edge + BATCH <= end; edge += BATCH) {
            int neighbour[BATCH];
            int reached[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                neighbour[i] = target[edge + i];
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                reached[i] = level[neighbour[i]];
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                if (reached[i] < 0)
                    visit(neighbour[i], depth, level, queue, &queued, next, next_size);
        }
        for (; edge < end; edge++) {
            int neighbour = target[edge];
            if (level[neighbour] < 0)
                visit(neighbour, depth, level, queue, &queued, next, next_size);
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
