// a copy that starts one word behind a line
extern "C" __global__ void copy_unaligned(const float *in, float *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i + 3] = in[i + 1];
}
