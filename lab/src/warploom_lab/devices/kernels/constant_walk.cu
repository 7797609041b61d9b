// all lanes of a warp walk the same 32 KB of constant memory
__constant__ float series[8192] = {1, 2, 3};
extern "C" __global__ void constant_walk(const float *in, float *out, int n)
{
    float x = in[blockIdx.x * blockDim.x + threadIdx.x], sum = 0;
    for (int i = 0; i < n; i += 4) sum = ((sum * x + series[i]) * x + series[i + 1]) * x + series[i + 2] + series[i + 3];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
