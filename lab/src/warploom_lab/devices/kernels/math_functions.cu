// functions of CUDA's library in full accuracy
extern "C" __global__ void math_functions(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    for (int k = 0; k < 4; k++) x = expf(-x) + logf(x + 1.5f) + powf(x + 0.1f, 0.7f) + sinf(x) * cosf(x) + erff(x) + sqrtf(x + 2.0f) + atanf(x) / (x + 3.0f);
    out[i] = x;
}
