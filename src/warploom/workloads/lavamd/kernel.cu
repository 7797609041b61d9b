// Potential and force on every particle from the particles of its own and the neighbouring boxes. A CTA owns a box, a thread a
// particle of it; the boxes around it come through shared memory one after the other.

#define THREADS 128
#define PARTICLES 100

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
#pragma unroll 5
            for (int j = 0; j < PARTICLES; j++) {
                float4 other = other_position[j];
                float half_square = mine.w + other.w - (mine.x * other.x + mine.y * other.y + mine.z * other.z);
                float potential = other_charge[j] * __expf(-twice_alpha_squared * half_square);
                float slope = 2.0f * potential;
                sum.w += potential;
                sum.x += slope * (mine.x - other.x);
                sum.y += slope * (mine.y - other.y);
                sum.z += slope * (mine.z - other.z);
            }
        }
        __syncthreads();
    }
    if (owns)
        force[blockIdx.x * PARTICLES + particle] = sum;
}
