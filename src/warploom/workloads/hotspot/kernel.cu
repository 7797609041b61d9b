// Temperature of a chip over time: each cell exchanges heat with its four neighbours and with the surroundings, and gains its own power. A CTA of
// 16 x 16 threads loads a tile with a border as wide as the number of steps it makes on its own; after each step one more ring of the tile is out
// of date, and the threads of that ring rest. The inner cells are written back.

#define BLOCK 16

extern "C" __global__ void hotspot(int steps, const float* power, const float* before, float* after, int rows, int columns, float per_capacity,
                                   float per_rx, float per_ry, float per_rz, float surroundings)
{
    __shared__ float temperature[BLOCK][BLOCK];
    __shared__ float heating[BLOCK][BLOCK];
    __shared__ float updated[BLOCK][BLOCK];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int inner = BLOCK - 2 * steps;
    const int row = blockIdx.y * inner - steps + y;
    const int column = blockIdx.x * inner - steps + x;
    const int place = row * columns + column;
    const bool on_chip = row >= 0 && row < rows && column >= 0 && column < columns;

    if (on_chip) {
        temperature[y][x] = before[place];
        heating[y][x] = power[place];
    }
    __syncthreads();

    // Neighbours within the tile; a cell at the chip's edge has itself as neighbour there.
    const int north = row > 0 ? y - 1 : y;
    const int south = row < rows - 1 ? y + 1 : y;
    const int west = column > 0 ? x - 1 : x;
    const int east = column < columns - 1 ? x + 1 : x;

    bool current = false;
    for (int step = 1; step <= steps; ++step) {
        current = on_chip && x >= step && x < BLOCK - step && y >= step && y < BLOCK - step;
        if (current) {
            const float here = temperature[y][x];
            updated[y][x] = here + per_capacity * (heating[y][x] + (temperature[south][x] + temperature[north][x] - 2.0f * here) * per_ry
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
