// solutions of n queens behind four given rows, bits for columns and diagonals, a stack in shared memory, very uneven lanes
extern "C" __global__ void queens_count(int *out, int n)
{
    __shared__ unsigned open[16][64];
    int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x, rest = i, found = 0, row = 0;
    unsigned full = (1u << n) - 1, columns = 0, left = 0, right = 0, way[3][16];
    bool good = true;
    for (int k = 0; k < 4; k++, rest /= n) {
        unsigned bit = 1u << rest % n;
        if (bit & (columns | left | right)) good = false;
        columns |= bit;
        left = (left | bit) << 1;
        right = (right | bit) >> 1;
    }
    if (good && rest == 0) {
        open[0][t] = full & ~(columns | left | right);
        while (row >= 0) {
            unsigned choices = open[row][t];
            if (choices == 0) {
                if (--row >= 0) {
                    columns = way[0][row];
                    left = way[1][row];
                    right = way[2][row];
                }
                continue;
            }
            unsigned bit = choices & -choices;
            open[row][t] = choices ^ bit;
            if (row == n - 5) {
                found++;
                continue;
            }
            way[0][row] = columns;
            way[1][row] = left;
            way[2][row] = right;
            columns |= bit;
            left = (left | bit) << 1;
            right = (right | bit) >> 1;
            open[++row][t] = full & ~(columns | left | right);
        }
    }
    out[i] = found;
}
