// Soft shadows from a shadow map: each pixel's point goes through the light's projection; if it falls on the map, nine
// neighbouring depths are compared with its own and averaged. Pixels that the light does not reach skip the look-ups.

extern "C" __global__ void __launch_bounds__(256)
shadow(float4* __restrict__ out, int width, int height, cudaTextureObject_t shadow_map, cudaTextureObject_t colours,
       const float* __restrict__ projection, float texel, float bias, float sharpness)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    float u = (column + 0.5f) / width;
    float v = (row + 0.5f) / height;
    float x = 4.0f * u - 2.0f;
    float y = 4.0f * v - 2.0f;
    float z = 0.1f * __sinf(3.0f * x) * __cosf(2.0f * y);  // the ground's height

    float light_x = projection[0] * x + projection[1] * y + projection[2] * z + projection[3];
    float light_y = projection[4] * x + projection[5] * y + projection[6] * z + projection[7];
    float depth = projection[8] * x + projection[9] * y + projection[10] * z + projection[11];
    float inverse = __fdividef(1.0f, projection[12] * x + projection[13] * y + projection[14] * z + projection[15]);
    float map_u = 0.5f + 0.5f * light_x * inverse;
    float map_v = 0.5f + 0.5f * light_y * inverse;
    depth *= inverse;

    // The light's cone fades out towards the border of the map.
    float border = fminf(fminf(map_u, 1.0f - map_u), fminf(map_v, 1.0f - map_v));
    float reach = __saturatef(border * 8.0f);
    float lit = 0.0f;
    if (reach > 0.0f) {
#pragma unroll
        for (int dy = -1; dy <= 1; dy++)
#pragma unroll
            for (int dx = -1; dx <= 1; dx++) {
                float nearest = tex2D<float>(shadow_map, map_u + dx * texel, map_v + dy * texel);
                lit += __saturatef((nearest + bias - depth) * sharpness);
            }
        lit *= reach * (1.0f / 9.0f);
    }
    float4 colour = tex2D<float4>(colours, 2.0f * u, 2.0f * v);
    float light = 0.2f + 0.8f * lit;
    out[row * width + column] = make_float4(colour.x * light, colour.y * light, colour.z * light, lit);
}
