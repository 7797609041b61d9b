// Merge sort of key-value pairs. Each CTA sorts 256 pairs in shared memory, then whole runs are merged pairwise in global memory.
// Merging is by rank: an element's place is its own index plus the number of elements before it in the sibling run.

#define THREADS 256

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
    __shared__ unsigned tile_keys[THREADS];
    __shared__ unsigned tile_values[THREADS];
    keys += blockIdx.x * THREADS;
    values += blockIdx.x * THREADS;
    unsigned key = keys[threadIdx.x];
    unsigned value = values[threadIdx.x];

#pragma unroll 1
    for (unsigned run = 1; run < THREADS; run *= 2) {
        tile_keys[threadIdx.x] = key;
        __syncthreads();
        unsigned within = threadIdx.x & (run - 1);
        unsigned start = threadIdx.x - within;
        unsigned target = min(start, start ^ run) + within + rank(key, tile_keys + (start ^ run), run, start & run);
        __syncthreads();
        tile_keys[target] = key;
        tile_values[target] = value;
        __syncthreads();
        key = tile_keys[threadIdx.x];
        value = tile_values[threadIdx.x];
    }
    keys[threadIdx.x] = key;
    values[threadIdx.x] = value;
}

extern "C" __global__ void __launch_bounds__(THREADS)
merge_runs(const unsigned* __restrict__ keys_in, const unsigned* __restrict__ values_in, unsigned* __restrict__ keys_out,
           unsigned* __restrict__ values_out, unsigned length, unsigned run)
{
    unsigned index = blockIdx.x * THREADS + threadIdx.x;
    unsigned within = index & (run - 1);
    unsigned start = index - within;
    bool right = start & run;
    unsigned sibling = start ^ run;
    unsigned key = keys_in[index];
    // The last run of an odd number has no sibling, the one before it perhaps a short one.
    unsigned others = sibling < length ? min(run, length - sibling) : 0;
    unsigned target = min(start, sibling) + within + rank(key, keys_in + sibling, others, right);
    keys_out[target] = key;
    values_out[target] = values_in[index];
}
