// 96 KB of dynamic shared memory for each CTA, read in another order than written
extern "C" __global__ void dynamic_shared(const float *in, float *out)
{
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < 24576; i += 256) s[i] = in[(blockIdx.x * 1024 + i) & 262143];
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < 32; r++) sum += s[(threadIdx.x * 97 + r * 769) % 24576];
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}
