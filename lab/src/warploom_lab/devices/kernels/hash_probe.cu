// linear probing in a table of 2 MB that is three quarters full; some keys are there, some end at a gap
extern "C" __global__ void hash_probe(const unsigned *table, const unsigned *keys, int *found, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned key = keys[i], at = (key * 0x9e3779b1u) >> 13 & mask;
    int steps = 0;
    while (steps < 64) {
        unsigned there = table[at];
        if (there == key || there == 0) break;
        at = (at + 1) & mask;
        steps++;
    }
    found[i] = table[at] == key ? (int)at : -1 - steps;
}
