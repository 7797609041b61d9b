// Merge sort of key-value pairs. Each CTA sorts 512 pairs in shared memory, then whole runs are merged pairwise in global memory.
// Merging is by rank: an element's place is its own index plus the number of elements before it in the sibling run.

#define THREADS 256
#define TILE (2 * THREADS)

// How many of the sorted keys are less than `key` (or equal to it, if `equal`).
__device__ __forceinline__ unsigned rank(unsigned key, const unsigned* keys, unsigned length, bool equal)
{
    unsigned low = 0;
    unsigned high = length;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        unsigned other = keys[middle];
        if (other < key || (equal && other == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

extern "C" __global__ void __launch_bounds__(THREADS)
sort_tiles(unsigned* keys, unsigned* values)
{
    __shared__ unsigned tile_keys[TILE];
    __shared__ unsigned tile_values[TILE];
    keys += blockIdx.x * TILE;
    values += blockIdx.x * TILE;
    tile_keys[threadIdx.x] = keys[threadIdx.x];
    tile_keys[threadIdx.x + THREADS] = keys[threadIdx.x + THREADS];
    tile_values[threadIdx.x] = values[threadIdx.x];
    tile_values[threadIdx.x + THREADS] = values[threadIdx.x + THREADS];

    for (unsigned run = 1; run < TILE; run *= 2) {
        unsigned within = threadIdx.x & (run - 1);
        unsigned* left = tile_keys + 2 * (threadIdx.x - within);
        __syncthreads();
        unsigned key_left = left[within];
        unsigned key_right = left[run + within];
        unsigned value_left = tile_values[(left - tile_keys) + within];
        unsigned value_right = tile_values[(left - tile_keys) + run + within];
        unsigned to_left = rank(key_left, left + run, run, false) + within;
        unsigned to_right = rank(key_right, left, run, true) + within;
        __syncthreads();
        left[to_left] = key_left;
        left[to_right] = key_right;
        tile_values[(left - tile_keys) + to_left] = value_left;
        tile_values[(left - tile_keys) + to_right] = value_right;
    }
    __syncthreads();
    keys[threadIdx.x] = tile_keys[threadIdx.x];
    keys[threadIdx.x + THREADS] = tile_keys[threadIdx.x + THREADS];
    values[threadIdx.x] = tile_values[threadIdx.x];
    values[threadIdx.x + THREADS] = tile_values[threadIdx.x + THREADS];
}

extern "C" __global__ void __launch_bounds__(THREADS)
merge_runs(const unsigned* __restrict__ keys_in, const unsigned* __restrict__ values_in, unsigned* __restrict__ keys_out,
           unsigned* __restrict__ values_out, unsigned run)
{
    unsigned index = blockIdx.x * THREADS + threadIdx.x;
    unsigned within = index & (run - 1);
    unsigned start = index - within;
    bool right = start & run;
    unsigned sibling = start ^ run;
    unsigned key = keys_in[index];
    unsigned target = min(start, sibling) + within + rank(key, keys_in + sibling, run, right);
    keys_out[target] = key;
    values_out[target] = values_in[index];
}
