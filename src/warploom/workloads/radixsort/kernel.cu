// Least-significant-digit radix sort, four bits a pass. Per pass: each CTA sorts its tile of 1024 pairs by the digit with four
// one-bit splits, pairs staying in registers between them; one CTA scans the digit counts; every pair goes to its place.

#define THREADS 256
#define WARPS (THREADS / 32)
#define TILE (4 * THREADS)
#define DIGITS 16

// Exclusive sum over the CTA; the total comes back in `total`.
__device__ __forceinline__ unsigned scan(unsigned value, unsigned* warp_sums, unsigned& total)
{
    unsigned lane = threadIdx.x % 32;
    unsigned warp = threadIdx.x / 32;
    unsigned sum = value;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        unsigned left = __shfl_up_sync(0xffffffffu, sum, distance);
        if (lane >= distance)
            sum += left;
    }
    if (lane == 31)
        warp_sums[warp] = sum;
    __syncthreads();
    unsigned before = 0;
    total = 0;
#pragma unroll
    for (int i = 0; i < WARPS; i++) {
        unsigned count = warp_sums[i];
        before += i < warp ? count : 0;
        total += count;
    }
    return before + sum - value;
}

extern "C" __global__ void __launch_bounds__(THREADS)
sort_tiles(const uint4* __restrict__ keys_in, const uint4* __restrict__ values_in, uint4* __restrict__ keys_out,
           uint4* __restrict__ values_out, unsigned* __restrict__ counts, unsigned* __restrict__ starts, unsigned shift)
{
    __shared__ unsigned keys[TILE];
    __shared__ unsigned values[TILE];
    __shared__ unsigned warp_sums[WARPS];
    __shared__ unsigned first[DIGITS + 1];

    unsigned index = blockIdx.x * THREADS + threadIdx.x;
    uint4 key = keys_in[index];
    uint4 value = values_in[index];

    for (unsigned bit = shift; bit < shift + 4; bit++) {
        unsigned zero_x = ~(key.x >> bit) & 1;
        unsigned zero_y = ~(key.y >> bit) & 1;
        unsigned zero_z = ~(key.z >> bit) & 1;
        unsigned zero_w = ~(key.w >> bit) & 1;
        unsigned zeros;
        unsigned before_x = scan(zero_x + zero_y + zero_z + zero_w, warp_sums, zeros);
        unsigned before_y = before_x + zero_x;
        unsigned before_z = before_y + zero_y;
        unsigned before_w = before_z + zero_z;
        unsigned one = zeros + 4 * threadIdx.x;
        unsigned to_x = zero_x ? before_x : one - before_x;
        unsigned to_y = zero_y ? before_y : one + 1 - before_y;
        unsigned to_z = zero_z ? before_z : one + 2 - before_z;
        unsigned to_w = zero_w ? before_w : one + 3 - before_w;
        keys[to_x] = key.x;
        keys[to_y] = key.y;
        keys[to_z] = key.z;
        keys[to_w] = key.w;
        values[to_x] = value.x;
        values[to_y] = value.y;
        values[to_z] = value.z;
        values[to_w] = value.w;
        __syncthreads();
        key = ((uint4*)keys)[threadIdx.x];
        value = ((uint4*)values)[threadIdx.x];
    }
    keys_out[index] = key;
    values_out[index] = value;

    // Where each digit begins in the sorted tile: at the end for digits that do not occur, then pulled to the next that does.
    if (threadIdx.x <= DIGITS)
        first[threadIdx.x] = TILE;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < TILE; i += THREADS) {
        unsigned digit = keys[i] >> shift & (DIGITS - 1);
        if (i == 0 || digit != (keys[i - 1] >> shift & (DIGITS - 1)))
            first[digit] = i;
    }
    __syncthreads();
    if (threadIdx.x < DIGITS) {
        unsigned start = first[threadIdx.x];
        unsigned end = TILE;
        for (int digit = DIGITS - 1; digit > (int)threadIdx.x; digit--)
            end = min(end, first[digit]);
        counts[threadIdx.x * gridDim.x + blockIdx.x] = start < end ? end - start : 0;
        starts[threadIdx.x * gridDim.x + blockIdx.x] = start;
    }
}

// Exclusive scan of all counts, digit-major, by one CTA.
extern "C" __global__ void __launch_bounds__(THREADS)
scan_counts(unsigned* counts, unsigned length)
{
    __shared__ unsigned warp_sums[WARPS];
    unsigned carry = 0;
    for (unsigned start = 0; start < length; start += THREADS) {
        unsigned i = start + threadIdx.x;
        unsigned total;
        unsigned before = scan(i < length ? counts[i] : 0, warp_sums, total);
        if (i < length)
            counts[i] = carry + before;
        carry += total;
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
scatter(const unsigned* __restrict__ keys_in, const unsigned* __restrict__ values_in, unsigned* __restrict__ keys_out,
        unsigned* __restrict__ values_out, const unsigned* __restrict__ offsets, const unsigned* __restrict__ starts,
        unsigned shift)
{
    __shared__ unsigned place[DIGITS];
    if (threadIdx.x < DIGITS) {
        unsigned entry = threadIdx.x * gridDim.x + blockIdx.x;
        place[threadIdx.x] = offsets[entry] - starts[entry];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned within = i * THREADS + threadIdx.x;
        unsigned key = keys_in[blockIdx.x * TILE + within];
        unsigned target = place[key >> shift & (DIGITS - 1)] + within;
        keys_out[target] = key;
        values_out[target] = values_in[blockIdx.x * TILE + within];
    }
}
