// Blinn-Phong shading of a flat surface with a colour texture and a normal map, lit by several point lights. One thread a pixel.

struct Light {
    float4 position;  // w: how fast it fades
    float4 colour;
};

__device__ __forceinline__ float dot3(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__device__ __forceinline__ float3 unit(float3 a)
{
    float scale = rsqrtf(dot3(a, a));
    return make_float3(a.x * scale, a.y * scale, a.z * scale);
}

extern "C" __global__ void __launch_bounds__(256)
phong(float4* __restrict__ out, int width, int height, cudaTextureObject_t colours, cudaTextureObject_t normals,
      const Light* __restrict__ lights, int light_count, float eye_x, float eye_y, float eye_z, float tiles, float shininess)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = (x + 0.5f) / width;
    float v = (y + 0.5f) / height;
    float px = 2.0f * u - 1.0f;
    float py = 2.0f * v - 1.0f;

    float4 albedo = tex2D<float4>(colours, u * tiles, v * tiles);
    float4 bump = tex2D<float4>(normals, u * tiles, v * tiles);
    float3 normal = unit(make_float3(bump.x - 0.5f, bump.y - 0.5f, 0.5f + bump.z));
    float3 view = unit(make_float3(eye_x - px, eye_y - py, eye_z));

    float3 sum = make_float3(0.05f * albedo.x, 0.05f * albedo.y, 0.05f * albedo.z);
    for (int i = 0; i < light_count; i++) {
        float4 position = lights[i].position;
        float3 to = make_float3(position.x - px, position.y - py, position.z);
        float square = dot3(to, to);
        to = unit(to);
        float facing = dot3(normal, to);
        if (facing > 0.0f) {
            float4 colour = lights[i].colour;
            float3 half = unit(make_float3(to.x + view.x, to.y + view.y, to.z + view.z));
            float gloss = albedo.w * __powf(fmaxf(dot3(normal, half), 0.0f), shininess);
            float strength = __fdividef(facing, 1.0f + position.w * square);
            sum.x += strength * colour.x * (albedo.x + gloss);
            sum.y += strength * colour.y * (albedo.y + gloss);
            sum.z += strength * colour.z * (albedo.z + gloss);
        }
    }
    out[y * width + x] = make_float4(__saturatef(sum.x), __saturatef(sum.y), __saturatef(sum.z), 1.0f);
}
