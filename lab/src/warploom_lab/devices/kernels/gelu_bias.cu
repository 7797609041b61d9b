// a bias and the GELU of it by tanh, vectors of four, two for each thread
__device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.7978846f * (x + 0.044715f * x * x * x))); }
extern "C" __global__ void gelu_bias(const float4 *in, const float4 *bias, float4 *out)
{
    for (int k = 0; k < 2; k++) {
        int i = (blockIdx.x * 2 + k) * 256 + threadIdx.x;
        float4 v = in[i], b = bias[threadIdx.x];
        out[i] = make_float4(gelu(v.x + b.x), gelu(v.y + b.y), gelu(v.z + b.z), gelu(v.w + b.w));
    }
}
