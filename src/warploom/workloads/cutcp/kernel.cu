// Electrostatic potential on a lattice from point charges within a cutoff distance. Space is divided into bins of up to
// eight atoms; one bin is as large as the region of 8 x 8 x 8 lattice points that a CTA of 8 x 2 x 8 threads works on, four
// points a thread. The CTA goes through the bins near its region, four at a time through shared memory; an atom without
// charge ends a bin.

#define DEPTH 8
#define WORDS (4 * DEPTH)
#define TOGETHER 4

extern "C" __global__ void __launch_bounds__(128)
    cutcp(const float* bins, int bins_x, int bins_y, const int* offsets, int near, float spacing,
          float cutoff_squared, float* lattice)
{
    __shared__ float atoms[TOGETHER * WORDS];
    const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    // The lattice has a margin of bins around it so that every bin in reach exists.
    const int home = ((blockIdx.z + 1) * bins_y + blockIdx.y + 1) * bins_x + blockIdx.x + 1;
    const int column = blockIdx.x * 8 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    const int plane = blockIdx.z * 8 + threadIdx.z;
    const float x = column * spacing;
    const float y = row * spacing;
    const float z = plane * spacing;

    float potential0 = 0.0f, potential1 = 0.0f, potential2 = 0.0f, potential3 = 0.0f;
    const float inverse = 1.0f / cutoff_squared;
    for (int first = 0; first < near; first += TOGETHER) {
        __syncthreads();
        const int which = first + t / WORDS;
        atoms[t] = which < near ? bins[(home + offsets[which]) * WORDS + t % WORDS] : 0.0f;
        __syncthreads();
        for (int bin = 0; bin < TOGETHER; ++bin) {
            for (int i = 0; i < DEPTH; ++i) {
                const float* const atom = atoms + bin * WORDS + 4 * i;
                const float charge = atom[3];
                if (charge == 0.0f)
                    break;
                const float dx = atom[0] - x;
                const float dz = atom[2] - z;
                const float across = dx * dx + dz * dz;
                float dy = atom[1] - y;
                float r2 = dy * dy + across;
                float screened = 1.0f - r2 * inverse;
                if (r2 < cutoff_squared)
                    potential0 += charge * rsqrtf(r2) * screened * screened;
                dy -= 2.0f * spacing;
                r2 = dy * dy + across;
                screened = 1.0f - r2 * inverse;
                if (r2 < cutoff_squared)
                    potential1 += charge * rsqrtf(r2) * screened * screened;
                dy -= 2.0f * spacing;
                r2 = dy * dy + across;
                screened = 1.0f - r2 * inverse;
                if (r2 < cutoff_squared)
                    potential2 += charge * rsqrtf(r2) * screened * screened;
                dy -= 2.0f * spacing;
                r2 = dy * dy + across;
                screened = 1.0f - r2 * inverse;
                if (r2 < cutoff_squared)
                    potential3 += charge * rsqrtf(r2) * screened * screened;
            }
        }
    }
    const int width = gridDim.x * 8;
    float* const out = lattice + (plane * gridDim.y * 8 + row) * width + column;
    out[0] = potential0;
    out[2 * width] = potential1;
    out[4 * width] = potential2;
    out[6 * width] = potential3;
}
