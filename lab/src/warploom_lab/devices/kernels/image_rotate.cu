// an image turned by an angle, linear filter
extern "C" __global__ void image_rotate(cudaTextureObject_t image, float *out, int n, float c, float s)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float u = x - n * 0.5f, v = y - n * 0.5f;
    out[y * n + x] = tex2D<float>(image, u * c - v * s + n * 0.5f, u * s + v * c + n * 0.5f);
}
