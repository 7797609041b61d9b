// Two-point angular correlation: histograms of the angles between all pairs of points on a sphere. CTA 0 pairs the data set
// with itself, the next CTAs the data with each random set, the rest each random set with itself. A pair's bin is found by
// binary search over the cosines that bound the bins; every warp counts in a histogram of its own. The other set of a CTA (597
// points at most) comes to shared memory as a whole.

#define THREADS 256
#define WARPS (THREADS / 32)
#define BINS 20
#define LOADERS 128  // threads that bring the other set
#define LOADS 14
#define MOST_POINTS (LOADERS * LOADS / 3)

extern "C" __global__ void __launch_bounds__(THREADS)
tpacf(const float* __restrict__ points, int points_per_set, int random_sets, const float* __restrict__ bounds,
      unsigned* __restrict__ histograms)
{
    __shared__ float others[3 * MOST_POINTS];
    __shared__ float bound[BINS + 1];
    __shared__ unsigned counts[WARPS * BINS];

    int mine = blockIdx.x <= random_sets ? 0 : blockIdx.x - random_sets;
    int other = blockIdx.x <= random_sets ? blockIdx.x : mine;
    const float* first = points + 3 * mine * points_per_set;
    const float* second = points + 3 * other * points_per_set;

    int point = threadIdx.x;
    float x = 0.0f, y = 0.0f, z = 0.0f;
    if (point < points_per_set) {
        x = first[point];
        y = first[points_per_set + point];
        z = first[2 * points_per_set + point];
    }
    // Half of the warps bring the other set, with all loads of a thread on their way at once; the others prepare the bins.
    if (threadIdx.x < LOADERS) {
        int words = 3 * points_per_set;
        float word[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            word[i] = i * LOADERS + threadIdx.x < words ? second[i * LOADERS + threadIdx.x] : 0.0f;
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            if (i * LOADERS + threadIdx.x < words)
                others[i * LOADERS + threadIdx.x] = word[i];
    } else {
        int i = threadIdx.x - LOADERS;
        if (i <= BINS)
            bound[i] = bounds[i];
        for (; i < WARPS * BINS; i += THREADS - LOADERS)
            counts[i] = 0;
    }
    __syncthreads();

    unsigned* count = counts + threadIdx.x / 32 * BINS;
    while (point < points_per_set) {
        // Within a set every pair counts once: with the points that follow.
#pragma unroll 1
        for (int j = mine == other ? point + 1 : 0; j < points_per_set; j++) {
            const float* partner = others + j;
            float cosine = __fmul_rn(x, partner[0]);
            cosine = __fmaf_rn(y, partner[points_per_set], cosine);
            cosine = __fmaf_rn(z, partner[2 * points_per_set], cosine);
            int low = 0;
            int high = BINS;
#pragma unroll 1
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
        point += THREADS;
        if (point < points_per_set) {
            x = first[point];
            y = first[points_per_set + point];
            z = first[2 * points_per_set + point];
        }
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        unsigned sum = 0;
#pragma unroll
        for (int warp = 0; warp < WARPS; warp++)
            sum += counts[warp * BINS + threadIdx.x];
        histograms[blockIdx.x * BINS + threadIdx.x] = sum;
    }
}
