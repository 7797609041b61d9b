// All-pairs gravitation. A thread owns a body and sums the pull of all others, which pass through shared memory tile by tile;
// then it moves the body by one step.

#define THREADS 128

extern "C" __global__ void __launch_bounds__(THREADS)
nbody_step(const float4* __restrict__ position, float4* __restrict__ new_position, float4* __restrict__ velocity, int bodies,
           float softening_squared, float step)
{
    __shared__ float4 tile[THREADS];
    int body = blockIdx.x * THREADS + threadIdx.x;
    float4 mine = position[body];
    float3 pull = make_float3(0.0f, 0.0f, 0.0f);

    for (int start = 0; start < bodies; start += THREADS) {
        tile[threadIdx.x] = position[start + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < THREADS; i++) {
            float4 other = tile[i];
            float dx = other.x - mine.x;
            float dy = other.y - mine.y;
            float dz = other.z - mine.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening_squared);
            float strength = other.w * inverse * inverse * inverse;
            pull.x += dx * strength;
            pull.y += dy * strength;
            pull.z += dz * strength;
        }
        __syncthreads();
    }

    float4 speed = velocity[body];
    speed.x += pull.x * step;
    speed.y += pull.y * step;
    speed.z += pull.z * step;
    velocity[body] = speed;
    new_position[body] = make_float4(mine.x + speed.x * step, mine.y + speed.y * step, mine.z + speed.z * step, mine.w);
}
