// Least-significant-digit radix sort, four bits a pass. Per pass: each CTA sorts its tile of 2048 pairs by the digit with four
// one-bit splits, pairs staying in registers between them; one CTA scans the digit counts; every pair goes to its place.

#define THREADS 256
#define WARPS (THREADS / 32)
#define EACH 8  // pairs that a thread holds
#define TILE (EACH * THREADS)
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

__device__ __forceinline__ void unpack(uint4 four, unsigned* to)
{
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

// Elements go to their places in the buffer; the thread takes back those that are now its own.
__device__ __forceinline__ void exchange(unsigned (&element)[EACH], const unsigned (&place)[EACH], uint4* buffer)
{
    __syncthreads();
#pragma unroll
    for (int i = 0; i < EACH; i++)
        ((unsigned*)buffer)[place[i]] = element[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < EACH; i += 4)
        unpack(buffer[(threadIdx.x * EACH + i) / 4], element + i);
}

extern "C" __global__ void __launch_bounds__(THREADS)
sort_tiles(const uint4* __restrict__ keys_in, const uint4* __restrict__ values_in, uint4* __restrict__ keys_out,
           uint4* __restrict__ values_out, unsigned* __restrict__ counts, unsigned* __restrict__ starts, unsigned shift)
{
    __shared__ uint4 buffer[TILE / 4];
    __shared__ unsigned warp_sums[WARPS];
    __shared__ unsigned first[DIGITS];

    unsigned index = (blockIdx.x * THREADS + threadIdx.x) * (EACH / 4);
    unsigned key[EACH];
    unsigned value[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i += 4) {
        unpack(keys_in[index + i / 4], key + i);
        unpack(values_in[index + i / 4], value + i);
    }

#pragma unroll 1
    for (unsigned bit = shift; bit < shift + 4; bit++) {
        unsigned mine = 0;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            mine += ~(key[i] >> bit) & 1;
        unsigned zeros;
        unsigned before = scan(mine, warp_sums, zeros);
        unsigned place[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            unsigned zero = ~(key[i] >> bit) & 1;
            place[i] = zero ? before : zeros + EACH * threadIdx.x + i - before;
            before += zero;
        }
        exchange(value, place, buffer);
        exchange(key, place, buffer);
    }
#pragma unroll
    for (int i = 0; i < EACH; i += 4) {
        keys_out[index + i / 4] = make_uint4(key[i], key[i + 1], key[i + 2], key[i + 3]);
        values_out[index + i / 4] = make_uint4(value[i], value[i + 1], value[i + 2], value[i + 3]);
    }

    // Where each digit begins in the sorted tile: at the end for digits that do not occur, then pulled to the next that does.
    const unsigned* keys = (const unsigned*)buffer;
    if (threadIdx.x < DIGITS)
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
    for (int i = 0; i < EACH; i++) {
        unsigned within = i * THREADS + threadIdx.x;
        unsigned key = keys_in[blockIdx.x * TILE + within];
        unsigned target = place[key >> shift & (DIGITS - 1)] + within;
        keys_out[target] = key;
        values_out[target] = values_in[blockIdx.x * TILE + within];
    }
}
