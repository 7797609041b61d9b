// tiles that come to shared memory by cp.async, two under way while one is used
extern "C" __global__ void copy_async(const float4 *in, float *out, int tiles)
{
    __shared__ __align__(16) float4 s[3][256];
    int t = threadIdx.x;
    const float4 *from = in + blockIdx.x * tiles * 256 + t;
    float sum = 0;
    for (int k = 0; k < 2; k++) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(&s[k][t])), "l"(from + k * 256) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int k = 0; k < tiles; k++) {
        if (k + 2 < tiles)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(&s[(k + 2) % 3][t])), "l"(from + (k + 2) * 256) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        float4 v = s[k % 3][255 - t];
        sum += v.x * v.y + v.z * v.w;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = sum;
}
