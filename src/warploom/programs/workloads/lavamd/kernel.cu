// Potential and force on every particle from the particles of its own and the neighbouring boxes. A CTA owns a box, a thread a
// particle of it; the boxes around it come through shared memory three at a time.

#define THREADS 128
#define PARTICLES 100
#define HALF (PARTICLES / 2)
#define TOGETHER 3

struct Neighbours {
    int count;
    int box[27];
};

// The fourth component of a particle is its charge, that of a force the potential.
extern "C" __global__ void __launch_bounds__(THREADS)
lavamd(const Neighbours* __restrict__ neighbours, const float4* __restrict__ particles, float4* __restrict__ forces,
       float alpha_squared)
{
    __shared__ float4 others[TOGETHER * PARTICLES];

    const Neighbours* around = neighbours + blockIdx.x;
    int particle = threadIdx.x;
    bool owns = particle < PARTICLES;
    float4 mine = particles[blockIdx.x * PARTICLES + (owns ? particle : 0)];
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    int count = around->count;
#pragma unroll 1
    for (int i = 0; i < count; i += TOGETHER) {
        // Half of the warps bring these boxes, with all loads of a thread on their way together.
        if (particle < HALF) {
            float4 lower[TOGETHER], upper[TOGETHER];
#pragma unroll
            for (int k = 0; k < TOGETHER; k++) {
                lower[k] = upper[k] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                if (i + k < count) {
                    const float4* box = particles + around->box[i + k] * PARTICLES + particle;
                    lower[k] = box[0];
                    upper[k] = box[HALF];
                }
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; k++) {
                others[k * PARTICLES + particle] = lower[k];
                others[k * PARTICLES + HALF + particle] = upper[k];
            }
        }
        __syncthreads();
        if (owns) {
            int partners = min(count - i, TOGETHER) * PARTICLES;
#pragma unroll 1
            for (int j = 0; j < partners; j++) {
                float4 other = others[j];
                float3 away = make_float3(mine.x - other.x, mine.y - other.y, mine.z - other.z);
                float square = away.x * away.x + away.y * away.y + away.z * away.z;
                float potential = other.w * __expf(-alpha_squared * square);
                float slope = 2.0f * potential;
                sum.w += potential;
                sum.x += slope * away.x;
                sum.y += slope * away.y;
                sum.z += slope * away.z;
            }
        }
        __syncthreads();
    }
    if (owns)
        forces[blockIdx.x * PARTICLES + particle] = sum;
}
