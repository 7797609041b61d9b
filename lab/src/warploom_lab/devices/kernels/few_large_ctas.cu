// twenty CTAs of 1024 threads that meet at barriers
extern "C" __global__ void few_large_ctas(const float *in, float *out, int rounds)
{
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 1024 + t];
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        float left = s[(t + 1023) & 1023], right = s[(t + 1) & 1023];
        __syncthreads();
        s[t] = 0.5f * s[t] + 0.25f * (left + right);
        __syncthreads();
    }
    out[blockIdx.x * 1024 + t] = s[t];
}
