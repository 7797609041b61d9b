// Potential and force on every particle from the particles of its own and the neighbouring boxes. A CTA owns a box, a thread a
// particle of it; the boxes around it come through shared memory one after the other.

#define THREADS 128
#define PARTICLES 100
#define BATCH 20

struct Neighbours {
    int count;
    int box[27];
};

// The fourth component of a particle is its charge, that of a force the potential.
extern "C" __global__ void __launch_bounds__(THREADS)
lavamd(const Neighbours* __restrict__ neighbours, const float4* __restrict__ particles, float4* __restrict__ forces,
       float alpha_squared)
{
    __shared__ float4 others[PARTICLES];

    const Neighbours* around = neighbours + blockIdx.x;
    int particle = threadIdx.x;
    bool owns = particle < PARTICLES;
    float4 mine = particles[blockIdx.x * PARTICLES + (owns ? particle : 0)];
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    int count = around->count;
    for (int i = 0; i < count; i++) {
        if (owns)
            others[particle] = particles[around->box[i] * PARTICLES + particle];
        __syncthreads();
        if (owns) {
            for (int first = 0; first < PARTICLES; first += BATCH) {
                // Several partners at a time, so that loads and exponentials overlap.
                float3 away[BATCH];
                float potential[BATCH];
#pragma unroll
                for (int j = 0; j < BATCH; j++) {
                    float4 other = others[first + j];
                    away[j] = make_float3(mine.x - other.x, mine.y - other.y, mine.z - other.z);
                    float square = away[j].x * away[j].x + away[j].y * away[j].y + away[j].z * away[j].z;
                    potential[j] = other.w * __expf(-alpha_squared * square);
                }
#pragma unroll
                for (int j = 0; j < BATCH; j++) {
                    float slope = 2.0f * potential[j];
                    sum.w += potential[j];
                    sum.x += slope * away[j].x;
                    sum.y += slope * away[j].y;
                    sum.z += slope * away[j].z;
                }
            }
        }
        __syncthreads();
    }
    if (owns)
        forces[blockIdx.x * PARTICLES + particle] = sum;
}
