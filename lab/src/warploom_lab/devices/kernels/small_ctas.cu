// six thousand CTAs of one warp with little to do
extern "C" __global__ void small_ctas(const float *in, float *out)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    float x = in[i];
    for (int k = 0; k < 10; k++) x = x * 1.01f + 0.5f;
    out[i] = x;
}
