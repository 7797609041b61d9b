// The cheapest way from the top row of a grid to each cell below, moving down, or down and one cell to a side. A CTA of 256
// threads advances its columns by several rows in shared memory before it writes them back; the columns that it can still
// get right shrink by one on each side with every row.

#define THREADS 256

extern "C" __global__ void pathfinder(int steps, const int* wall, const int* before, int* after, int columns, int first_row)
{
    __shared__ int costs[THREADS];
    __shared__ int updated[THREADS];
    const int x = threadIdx.x;
    const int start = blockIdx.x * (THREADS - 2 * steps) - steps;
    const int column = start + x;
    const bool on_grid = column >= 0 && column < columns;
    const int west = max(x - 1, max(-start, 0));
    const int east = min(x + 1, min(columns - 1 - start, THREADS - 1));

    if (on_grid)
        costs[x] = before[column];
    __syncthreads();
    bool current = false;
    for (int step = 1; step <= steps; ++step) {
        current = on_grid && x >= step && x < THREADS - step;
        if (current) {
            const int least = min(costs[x], min(costs[west], costs[east]));
            updated[x] = least + wall[(first_row + step - 1) * columns + column];
        }
        __syncthreads();
        if (step == steps)
            break;
        if (current)
            costs[x] = updated[x];
        __syncthreads();
    }
    if (current)
        after[column] = updated[x];
}
