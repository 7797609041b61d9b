// Potential and force on every particle from the particles of its own and the neighbouring boxes. A CTA owns a box, a thread a
// particle of it; the boxes around it come through shared memory one after the other.

#define THREADS 128
#define PARTICLES 100
#define BATCH 10

struct Neighbours {
    int count;
    int box[27];
};

// Positions carry half their squared length in w, so that half a squared distance is a sum and a dot product.
extern "C" __global__ void __launch_bounds__(THREADS)
lavamd(const Neighbours* __restrict__ neighbours, const float4* __restrict__ position, const float* __restrict__ charge,
       float4* __restrict__ force, float twice_alpha_squared)
{
    __shared__ float4 other_position[PARTICLES];
    __shared__ float other_charge[PARTICLES];

    const Neighbours* around = neighbours + blockIdx.x;
    int particle = threadIdx.x;
    bool owns = particle < PARTICLES;
    float4 mine = position[blockIdx.x * PARTICLES + (owns ? particle : 0)];
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    int count = around->count;
    for (int i = 0; i < count; i++) {
        int first = around->box[i] * PARTICLES;
        if (owns) {
            other_position[particle] = position[first + particle];
            other_charge[particle] = charge[first + particle];
        }
        __syncthreads();
        if (owns) {
            for (int j = 0; j < PARTICLES; j += BATCH) {
                // Several partners at a time, so that loads and exponentials overlap.
                float4 other[BATCH];
                float potential[BATCH];
#pragma unroll
                for (int i = 0; i < BATCH; i++) {
                    other[i] = other_position[j + i];
                    float dot = mine.x * other[i].x + mine.y * other[i].y + mine.z * other[i].z;
                    potential[i] = other_charge[j + i] * __expf(-twice_alpha_squared * (mine.w + other[i].w - dot));
                }
#pragma unroll
                for (int i = 0; i < BATCH; i++) {
                    float slope = 2.0f * potential[i];
                    sum.w += potential[i];
                    sum.x += slope * (mine.x - other[i].x);
                    sum.y += slope * (mine.y - other[i].y);
                    sum.z += slope * (mine.z - other[i].z);
                }
            }
        }
        __syncthreads();
    }
    if (owns)
        force[blockIdx.x * PARTICLES + particle] = sum;
}
