// an integral by many evaluations, registers and special functions only
extern "C" __global__ void quadrature(float *out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = i * 0.0001f, h = 1.0f / steps, sum = 0;
    for (int k = 0; k < steps; k++) {
        float x = a + (k + 0.5f) * h;
        sum += __expf(-x * x) * __cosf(3.0f * x) + rsqrtf(1.0f + x);
    }
    out[i] = sum * h;
}
