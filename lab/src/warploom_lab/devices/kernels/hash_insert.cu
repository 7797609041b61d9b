// keys go into an open hash table by compare and swap
extern "C" __global__ void hash_insert(const unsigned *keys, unsigned *table, int mask)
{
    unsigned key = keys[blockIdx.x * blockDim.x + threadIdx.x], at = key * 2654435761u >> 12;
    while (true) {
        unsigned old = atomicCAS(&table[at & mask], 0u, key);
        if (old == 0 || old == key) break;
        at++;
    }
}
