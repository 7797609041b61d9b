// Parallax occlusion mapping: from each pixel the view ray walks through a depth texture layer by layer until it is below the
// surface, the crossing is interpolated, and colour and slope are looked up there. Rays end after different numbers of steps.

#define LAYERS 16

extern "C" __global__ void __launch_bounds__(256)
parallax(float4* __restrict__ out, int width, int height, cudaTextureObject_t depths, cudaTextureObject_t colours, float eye_x,
         float eye_y, float eye_z, float light_x, float light_y, float light_z, float scale, float tiles)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = (x + 0.5f) / width;
    float v = (y + 0.5f) / height;

    // The step along the surface for one layer of depth.
    float shift = __fdividef(scale, eye_z * LAYERS);
    float step_u = (eye_x - (2.0f * u - 1.0f)) * shift;
    float step_v = (eye_y - (2.0f * v - 1.0f)) * shift;
    u *= tiles;
    v *= tiles;

    float layer = 0.0f;
    float before = 0.0f;
    float depth = tex2D<float>(depths, u, v);
    for (int i = 0; i < LAYERS && layer < depth; i++) {
        before = depth - layer;
        u -= step_u;
        v -= step_v;
        depth = tex2D<float>(depths, u, v);
        layer += 1.0f / LAYERS;
    }
    float after = layer - depth;
    float back = __fdividef(after, after + before);
    u += step_u * back;
    v += step_v * back;

    const float texel = 1.0f / 64.0f;
    float slope_u = tex2D<float>(depths, u + texel, v) - tex2D<float>(depths, u - texel, v);
    float slope_v = tex2D<float>(depths, u, v + texel) - tex2D<float>(depths, u, v - texel);
    float length = rsqrtf(slope_u * slope_u + slope_v * slope_v + 0.09f);
    float light = (slope_u * light_x + slope_v * light_y + 0.3f * light_z) * length;
    light = 0.15f + 0.85f * fmaxf(light, 0.0f);
    float4 colour = tex2D<float4>(colours, u, v);
    out[y * width + x] = make_float4(colour.x * light, colour.y * light, colour.z * light, 1.0f);
}
