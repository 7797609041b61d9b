// Bloom, in four passes: what is bright is kept at half the size, blurred along rows and along columns with bilinear taps
// (each fetch covers two texels), and added back before the tone curve.

__device__ __forceinline__ void add(float4& sum, float4 texel, float share)
{
    sum.x += share * texel.x;
    sum.y += share * texel.y;
    sum.z += share * texel.z;
}

extern "C" __global__ void __launch_bounds__(256)
bright_pass(float4* __restrict__ out, int width, int height, cudaTextureObject_t scene, float threshold, float knee)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float du = 0.25f / width;
    float dv = 0.25f / height;
    float u = (x + 0.5f) / width;
    float v = (y + 0.5f) / height;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 1.0f);
    add(sum, tex2D<float4>(scene, u - du, v - dv), 0.25f);
    add(sum, tex2D<float4>(scene, u + du, v - dv), 0.25f);
    add(sum, tex2D<float4>(scene, u - du, v + dv), 0.25f);
    add(sum, tex2D<float4>(scene, u + du, v + dv), 0.25f);
    float luminance = 0.2126f * sum.x + 0.7152f * sum.y + 0.0722f * sum.z;
    float above = __saturatef(__fdividef(luminance - threshold, knee));
    float keep = above * above * (3.0f - 2.0f * above);
    out[y * width + x] = make_float4(sum.x * keep, sum.y * keep, sum.z * keep, 1.0f);
}

extern "C" __global__ void __launch_bounds__(256)
blur(float4* __restrict__ out, int width, int height, cudaTextureObject_t in, float step_u, float step_v)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = (x + 0.5f) / width;
    float v = (y + 0.5f) / height;
    const float share[4] = {0.19648255f, 0.29690697f, 0.09447040f, 0.01038136f};
    const float place[4] = {0.0f, 1.41176471f, 3.29411765f, 5.17647059f};
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 1.0f);
    add(sum, tex2D<float4>(in, u, v), share[0]);
#pragma unroll
    for (int tap = 1; tap < 4; tap++) {
        add(sum, tex2D<float4>(in, u + place[tap] * step_u, v + place[tap] * step_v), share[tap]);
        add(sum, tex2D<float4>(in, u - place[tap] * step_u, v - place[tap] * step_v), share[tap]);
    }
    out[y * width + x] = sum;
}

extern "C" __global__ void __launch_bounds__(256)
combine(float4* __restrict__ out, int width, int height, cudaTextureObject_t scene, cudaTextureObject_t glow, float strength,
        float exposure)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = (x + 0.5f) / width;
    float v = (y + 0.5f) / height;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 1.0f);
    add(sum, tex2D<float4>(scene, u, v), 1.0f);
    add(sum, tex2D<float4>(glow, u, v), strength);
    out[y * width + x] = make_float4(1.0f - __expf(-exposure * sum.x), 1.0f - __expf(-exposure * sum.y),
                                     1.0f - __expf(-exposure * sum.z), 1.0f);
}
