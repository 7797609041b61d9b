// the nearest of 64 spheres along the ray of each place, spheres in shared memory, shading where one was hit
extern "C" __global__ void ray_spheres(const float4 *sphere, float *out, int count)
{
    __shared__ float4 s[64];
    int t = threadIdx.y * 16 + threadIdx.x, px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
    if (t < 64) s[t] = sphere[t];
    __syncthreads();
    float dx = (px - 160) * 0.004f, dy = (py - 160) * 0.004f, scale = rsqrtf(dx * dx + dy * dy + 1.0f), nearest = 1e30f;
    dx *= scale;
    dy *= scale;
    float dz = scale;
    int hit = -1;
    for (int k = 0; k < count; k++) {
        float4 c = s[k];
        float along = c.x * dx + c.y * dy + c.z * dz, rest = c.x * c.x + c.y * c.y + c.z * c.z - along * along;
        float radius = 0.02f * c.w * c.w + 0.05f;
        if (rest < radius && along > 0) {
            float at = along - sqrtf(radius - rest);
            if (at > 0 && at < nearest) {
                nearest = at;
                hit = k;
            }
        }
    }
    float shade = 0;
    if (hit >= 0) {
        float4 c = s[hit];
        float nx = nearest * dx - c.x, ny = nearest * dy - c.y, nz = nearest * dz - c.z;
        float light = (nx * 0.5f + ny * 0.7f - nz * 0.5f) * rsqrtf(nx * nx + ny * ny + nz * nz);
        shade = 0.1f + 0.9f * fmaxf(light, 0.0f) + 0.5f * powf(fmaxf(light, 0.0f), 20.0f);
    }
    out[py * 320 + px] = shade;
}
