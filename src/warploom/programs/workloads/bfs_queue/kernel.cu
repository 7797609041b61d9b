// Breadth-first search with work queues, built as Parboil's is. A thread visits one vertex of the frontier and follows its edges
// one after the other; whether an edge leads to something new is decided by an atomic minimum of the distance and an atomic
// exchange of the colour. Vertices reached for the first time go to one of eight queues in shared memory, which the CTA
// appends to the next frontier in one piece; what does not fit goes there directly.

#define QUEUES 8
#define CAPACITY 400
#define VISITED -1

extern "C" __global__ void __launch_bounds__(512)
bfs_queue(const int2* __restrict__ node, const int2* __restrict__ edge, int* colour, int* level,
          const int* __restrict__ frontier, int frontier_size, int* next, int* next_size, int shade)
{
    __shared__ int queue[QUEUES][CAPACITY];
    __shared__ int queued[QUEUES];
    __shared__ int before[QUEUES];
    __shared__ int base;

    if (threadIdx.x < QUEUES)
        queued[threadIdx.x] = 0;
    __syncthreads();

    int own = threadIdx.x % QUEUES;
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < frontier_size) {
        int vertex = frontier[index];
        colour[vertex] = VISITED;
        int distance = level[vertex];
        int2 edges = node[vertex]; // the first one, and how many
        for (int i = edges.x; i < edges.x + edges.y; i++) {
            int2 along = edge[i]; // where it leads, and its length
            int further = distance + along.y;
            if (atomicMin(&level[along.x], further) <= further)
                continue;
            if (atomicExch(&colour[along.x], shade) == shade)
                continue;
            int slot = atomicAdd(&queued[own], 1);
            if (slot < CAPACITY)
                queue[own][slot] = along.x;
            else
                next[atomicAdd(next_size, 1)] = along.x;
        }
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < QUEUES; i++) {
            before[i] = sum;
            sum += min(queued[i], CAPACITY);
        }
        base = atomicAdd(next_size, sum);
    }
    __syncthreads();
    int* target = next + base + before[own];
    for (int slot = threadIdx.x / QUEUES; slot < min(queued[own], CAPACITY); slot += blockDim.x / QUEUES)
        target[slot] = queue[own][slot];
}
