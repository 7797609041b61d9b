// Two-point angular correlation: histograms of the angles between all pairs of points on a sphere. CTA 0 pairs the data set with
// itself, the next CTAs the data with each random set, the rest each random set with itself. A pair's bin is found by binary
// search over the cosines that bound the bins; every warp counts in a histogram of its own.

#define THREADS 256
#define WARPS (THREADS / 32)
#define BINS 20

extern "C" __global__ void __launch_bounds__(THREADS)
tpacf(const float* __restrict__ points, int points_per_set, int random_sets, const float* __restrict__ bounds,
      unsigned* __restrict__ histograms)
{
    __shared__ float tile[3][THREADS];
    __shared__ float bound[BINS + 1];
    __shared__ unsigned counts[WARPS][BINS];

    for (int i = threadIdx.x; i < WARPS * BINS; i += THREADS)
        ((unsigned*)counts)[i] = 0;
    if (threadIdx.x <= BINS)
        bound[threadIdx.x] = bounds[threadIdx.x];

    int mine = blockIdx.x <= random_sets ? 0 : blockIdx.x - random_sets;
    int other = blockIdx.x <= random_sets ? blockIdx.x : mine;
    bool same = mine == other;
    const float* first = points + 3 * mine * points_per_set;
    const float* second = points + 3 * other * points_per_set;
    unsigned* count = counts[threadIdx.x / 32];

    for (int base = 0; base < points_per_set; base += THREADS) {
        int length = min(THREADS, points_per_set - base);
        __syncthreads();
        if (threadIdx.x < length) {
            tile[0][threadIdx.x] = second[base + threadIdx.x];
            tile[1][threadIdx.x] = second[points_per_set + base + threadIdx.x];
            tile[2][threadIdx.x] = second[2 * points_per_set + base + threadIdx.x];
        }
        __syncthreads();
        for (int point = threadIdx.x; point < points_per_set; point += THREADS) {
            float x = first[point];
            float y = first[points_per_set + point];
            float z = first[2 * points_per_set + point];
            // Within a set every pair counts once: with the points that follow.
            int start = same ? max(point + 1 - base, 0) : 0;
#pragma unroll 2
            for (int j = start; j < length; j++) {
                float cosine = __fmaf_rn(z, tile[2][j], __fmaf_rn(y, tile[1][j], __fmul_rn(x, tile[0][j])));
                int low = 0;
                int high = BINS;
                while (high > low + 1) {
                    int middle = (low + high) / 2;
                    if (cosine >= bound[middle])
                        high = middle;
                    else
                        low = middle;
                }
                if (cosine < bound[0] && cosine >= bound[BINS])
                    atomicAdd(&count[low], 1u);
            }
        }
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += THREADS) {
        unsigned sum = 0;
        for (int warp = 0; warp < WARPS; warp++)
            sum += counts[warp][bin];
        histograms[blockIdx.x * BINS + bin] = sum;
    }
}
