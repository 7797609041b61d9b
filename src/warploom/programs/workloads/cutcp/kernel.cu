// Adds to the electrostatic potential on a lattice that of point charges within a cutoff distance. Space is divided into bins
// of up to eight atoms; one bin is as large as the region of 8 x 8 x 8 lattice points that a CTA of 8 x 2 x 8 threads works on,
// four points a thread. The bins near the CTA's region (32 at most) come to shared memory at once, with all loads of a thread
// in flight together; then every thread goes through them, atom by atom. An atom without charge ends a bin.

#define DEPTH 8
#define WORDS (4 * DEPTH)
#define THREADS 128
#define LOADS 8
#define TOGETHER (LOADS * THREADS / WORDS)

extern "C" __global__ void __launch_bounds__(THREADS)
    cutcp(const float* __restrict__ bins, int bins_x, int bins_y, const int* __restrict__ offsets, int near, float spacing,
          float cutoff_squared, float* lattice)
{
    __shared__ float atoms[TOGETHER * WORDS];
    const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int column = blockIdx.x * 8 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    const int plane = blockIdx.z * 8 + threadIdx.z;
    const float x = column * spacing;
    const float y = row * spacing;
    const float z = plane * spacing;
    const float inverse = 1.0f / cutoff_squared;
    const int width = gridDim.x * 8;
    float* const out = lattice + (plane * gridDim.y * 8 + row) * width + column;
    float potential0 = out[0];
    float potential1 = out[2 * width];
    float potential2 = out[4 * width];
    float potential3 = out[6 * width];

    // The lattice has a margin of bins around it so that every bin in reach exists.
    const int home = ((blockIdx.z + 1) * bins_y + blockIdx.y + 1) * bins_x + blockIdx.x + 1;
    float word[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        const int which = (i * THREADS + t) / WORDS;
        word[i] = which < near ? bins[(home + offsets[which]) * WORDS + t % WORDS] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < LOADS; ++i)
        atoms[i * THREADS + t] = word[i];
    __syncthreads();

    int i = 0;
#pragma unroll 1
    while (i < near * DEPTH) {
        const float* const atom = atoms + 4 * i;
        const float charge = atom[3];
        if (charge == 0.0f) {
            i = (i | (DEPTH - 1)) + 1;
            continue;
        }
        const float dx = atom[0] - x;
        const float dz = atom[2] - z;
        const float across = dx * dx + dz * dz;
        float dy = atom[1] - y;
        float r2 = dy * dy + across;
        float screened = 1.0f - r2 * inverse;
        if (r2 < cutoff_squared)
            potential0 += charge * rsqrtf(r2) * screened * screened;
        dy = __fmaf_rn(-2.0f, spacing, dy);
        r2 = dy * dy + across;
        screened = 1.0f - r2 * inverse;
        if (r2 < cutoff_squared)
            potential1 += charge * rsqrtf(r2) * screened * screened;
        dy = __fmaf_rn(-2.0f, spacing, dy);
        r2 = dy * dy + across;
        screened = 1.0f - r2 * inverse;
        if (r2 < cutoff_squared)
            potential2 += charge * rsqrtf(r2) * screened * screened;
        dy = __fmaf_rn(-2.0f, spacing, dy);
        r2 = dy * dy + across;
        screened = 1.0f - r2 * inverse;
        if (r2 < cutoff_squared)
            potential3 += charge * rsqrtf(r2) * screened * screened;
        ++i;
    }
    out[0] = potential0;
    out[2 * width] = potential1;
    out[4 * width] = potential2;
    out[6 * width] = potential3;
}
