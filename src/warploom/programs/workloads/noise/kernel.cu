// Procedural marble from gradient noise in three dimensions, several octaves. Hashes of lattice points come from a permutation
// texture (four corners of a cell in one fetch), gradients from a second one.

__device__ __forceinline__ float fade(float t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }

__device__ __forceinline__ float mix(float a, float b, float t) { return a + t * (b - a); }

__device__ __forceinline__ float slope(cudaTextureObject_t gradients, float hash, float x, float y, float z)
{
    float4 gradient = tex2D<float4>(gradients, (float)((int)hash & 255) + 0.5f, 0.5f);
    return gradient.x * x + gradient.y * y + gradient.z * z;
}

__device__ float gradient_noise(cudaTextureObject_t permutation, cudaTextureObject_t gradients, float x, float y, float z)
{
    float cell_x = floorf(x), cell_y = floorf(y), cell_z = floorf(z);
    x -= cell_x;
    y -= cell_y;
    z -= cell_z;
    float4 hash = tex2D<float4>(permutation, ((int)cell_x & 255) + 0.5f, ((int)cell_y & 255) + 0.5f);
    float u = fade(x), v = fade(y), w = fade(z);
    float hash_aa = hash.x + cell_z, hash_ab = hash.y + cell_z, hash_ba = hash.z + cell_z, hash_bb = hash.w + cell_z;
    float near = mix(mix(slope(gradients, hash_aa, x, y, z), slope(gradients, hash_ba, x - 1.0f, y, z), u),
                     mix(slope(gradients, hash_ab, x, y - 1.0f, z), slope(gradients, hash_bb, x - 1.0f, y - 1.0f, z), u), v);
    z -= 1.0f;
    float far = mix(mix(slope(gradients, hash_aa + 1.0f, x, y, z), slope(gradients, hash_ba + 1.0f, x - 1.0f, y, z), u),
                    mix(slope(gradients, hash_ab + 1.0f, x, y - 1.0f, z), slope(gradients, hash_bb + 1.0f, x - 1.0f, y - 1.0f, z), u),
                    v);
    return mix(near, far, w);
}

extern "C" __global__ void __launch_bounds__(256)
marble(float4* __restrict__ out, int width, int height, cudaTextureObject_t permutation, cudaTextureObject_t gradients,
       float scale, float time, int octaves)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    float x = column * scale;
    float y = row * scale;
    float z = time;
    float amplitude = 1.0f;
    float turbulence = 0.0f;
    for (int octave = 0; octave < octaves; octave++) {
        turbulence += amplitude * fabsf(gradient_noise(permutation, gradients, x, y, z));
        x *= 2.0f;
        y *= 2.0f;
        z *= 2.0f;
        amplitude *= 0.5f;
    }
    float vein = 0.5f + 0.5f * __sinf(column * scale * 2.0f + 5.0f * turbulence);
    out[row * width + column] = make_float4(mix(0.2f, 0.95f, vein), mix(0.18f, 0.9f, vein * vein), mix(0.3f, 0.85f, vein), 1.0f);
}
