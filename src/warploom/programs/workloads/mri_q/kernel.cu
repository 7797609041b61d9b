// The matrix Q of image reconstruction from a non-Cartesian magnetic resonance scan: every voxel adds up, over all samples
// of k-space, the sample's magnitude times a complex exponential of the scalar product of positions. One voxel a thread; the
// samples pass through shared memory.

#define THREADS 256
#define TWO_PI 6.2831853f

extern "C" __global__ void magnitudes(const float* phi_real, const float* phi_imaginary, float4* samples, int count)
{
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < count)
        samples[k].w = phi_real[k] * phi_real[k] + phi_imaginary[k] * phi_imaginary[k];
}

extern "C" __global__ void mri_q(const float* x, const float* y, const float* z, const float4* samples, int count,
                                 float* q_real, float* q_imaginary)
{
    __shared__ float4 chunk[THREADS];
    const int voxel = blockIdx.x * THREADS + threadIdx.x;
    const float at_x = x[voxel];
    const float at_y = y[voxel];
    const float at_z = z[voxel];
    float real = 0.0f;
    float imaginary = 0.0f;
    for (int first = 0; first < count; first += THREADS) {
        const int here = min(count - first, THREADS);
        __syncthreads();
        if (threadIdx.x < here)
            chunk[threadIdx.x] = samples[first + threadIdx.x];
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < here; ++k) {
            const float4 sample = chunk[k];
            const float angle = TWO_PI * (sample.x * at_x + sample.y * at_y + sample.z * at_z);
            float sine, cosine;
            sincosf(angle, &sine, &cosine);
            real += sample.w * cosine;
            imaginary += sample.w * sine;
        }
    }
    q_real[voxel] = real;
    q_imaginary[voxel] = imaginary;
}
