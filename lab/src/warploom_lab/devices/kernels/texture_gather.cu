// vectors of four texels at random places of a 4 MB texture
extern "C" __global__ void texture_gather(cudaTextureObject_t image, const unsigned *in, float4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 4; k++) {
        float4 t = tex2D<float4>(image, (v & 511) + 0.5f, (v >> 9 & 511) + 0.5f);
        sum.x += t.x; sum.y += t.y; sum.z += t.z; sum.w += t.w;
        v = v * 1664525u + 1013904223u;
    }
    out[i] = sum;
}
