// 80 MB are read once, more than L2 holds
extern "C" __global__ void read_large(const float4 *in, float *out, int n)
{
    float sum = 0;
    int step = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * step < n; i += 4 * step) {
        float4 a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];
        sum += a.x + a.y + b.z + b.w + c.x + c.y + d.z + d.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
