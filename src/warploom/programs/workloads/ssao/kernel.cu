// Screen-space ambient occlusion: around each pixel's point, samples in the hemisphere over the surface, turned by a random vector
// from a small texture, are compared with the depth texture at their place.

__device__ __forceinline__ float3 unit(float x, float y, float z)
{
    float scale = rsqrtf(x * x + y * y + z * z);
    return make_float3(x * scale, y * scale, z * scale);
}

extern "C" __global__ void __launch_bounds__(256)
ssao(float* __restrict__ out, int width, int height, cudaTextureObject_t depths, cudaTextureObject_t turns,
     const float4* __restrict__ samples, int sample_count, float radius, float sharpness)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float du = 1.0f / width;
    float dv = 1.0f / height;
    float u = (x + 0.5f) * du;
    float v = (y + 0.5f) * dv;

    float depth = tex2D<float>(depths, u, v);
    float slope_u = (tex2D<float>(depths, u + du, v) - tex2D<float>(depths, u - du, v)) * (0.5f * width);
    float slope_v = (tex2D<float>(depths, u, v + dv) - tex2D<float>(depths, u, v - dv)) * (0.5f * height);
    float3 normal = unit(slope_u, slope_v, -1.0f);  // towards the viewer, who looks along z

    // A tangent along the random vector, and a third axis across.
    float4 turn = tex2D<float4>(turns, (x + 0.5f) * 0.25f, (y + 0.5f) * 0.25f);
    float along = turn.x * normal.x + turn.y * normal.y;
    float3 tangent = unit(turn.x - normal.x * along, turn.y - normal.y * along, -normal.z * along);
    float3 across = make_float3(normal.y * tangent.z - normal.z * tangent.y, normal.z * tangent.x - normal.x * tangent.z,
                                normal.x * tangent.y - normal.y * tangent.x);

    float occlusion = 0.0f;
    for (int i = 0; i < sample_count; i++) {
        float4 sample = samples[i];
        float sx = tangent.x * sample.x + across.x * sample.y + normal.x * sample.z;
        float sy = tangent.y * sample.x + across.y * sample.y + normal.y * sample.z;
        float sz = tangent.z * sample.x + across.z * sample.y + normal.z * sample.z;
        float behind = depth + radius * sz - tex2D<float>(depths, u + radius * sx, v + radius * sy);
        // What is far in front of the point does not shade it.
        float distance = behind / radius;
        occlusion += __saturatef(behind * sharpness) * __fdividef(1.0f, 1.0f + distance * distance);
    }
    out[y * width + x] = 1.0f - occlusion / sample_count;
}
