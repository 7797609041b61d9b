// Temperature of a chip over time: each cell exchanges heat with its four neighbours and with the surroundings, and gains
// its own power. A CTA of 16 x 16 threads loads a tile with a border as wide as the number of steps it makes on its own;
// after each step one more ring of the tile is out of date, and the threads of that ring rest. The inner cells are written
// back.

#define BLOCK 16

extern "C" __global__ void hotspot(int steps, const float* power, const float* before, float* after, int rows, int columns,
                                   float per_capacity, float per_rx, float per_ry, float per_rz, float surroundings)
{
    __shared__ float temperature[BLOCK][BLOCK];
    __shared__ float heating[BLOCK][BLOCK];
    __shared__ float updated[BLOCK][BLOCK];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int inner = BLOCK - 2 * steps;
    const int top = blockIdx.y * inner - steps;
    const int left = blockIdx.x * inner - steps;
    const int place = (top + y) * columns + left + x;
    // The part of the tile that lies on the chip.
    const int first_row = max(-top, 0);
    const int last_row = min(rows - 1 - top, BLOCK - 1);
    const int first_column = max(-left, 0);
    const int last_column = min(columns - 1 - left, BLOCK - 1);

    if (y >= first_row && y <= last_row && x >= first_column && x <= last_column) {
        temperature[y][x] = before[place];
        heating[y][x] = power[place];
    }
    __syncthreads();

    // Neighbours within the tile; a cell at the chip's edge has itself as neighbour there.
    const int north = max(y - 1, first_row);
    const int south = min(y + 1, last_row);
    const int west = max(x - 1, first_column);
    const int east = min(x + 1, last_column);

    bool current = false;
    for (int step = 1; step <= steps; ++step) {
        current = x >= max(step, first_column) && x <= min(BLOCK - 1 - step, last_column)
                  && y >= max(step, first_row) && y <= min(BLOCK - 1 - step, last_row);
        if (current) {
            const float here = temperature[y][x];
            updated[y][x] = here + per_capacity * (heating[y][x]
                                                   + (temperature[south][x] + temperature[north][x] - 2.0f * here) * per_ry
                                                   + (temperature[y][east] + temperature[y][west] - 2.0f * here) * per_rx
                                                   + (surroundings - here) * per_rz);
        }
        __syncthreads();
        if (step == steps)
            break;
        if (current)
            temperature[y][x] = updated[y][x];
        __syncthreads();
    }
    if (current)
        after[place] = updated[y][x];
}
