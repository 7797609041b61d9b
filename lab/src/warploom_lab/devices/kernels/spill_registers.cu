// more live values than the launch bounds leave registers for
extern "C" __global__ void __launch_bounds__(1024, 2) spill_registers(const float *in, float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[48];
#pragma unroll
    for (int k = 0; k < 48; k++) v[k] = in[(i + k * 61) & 65535];
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 48; k++) v[k] = v[k] * v[(k + 7) % 48] + v[(k + 29) % 48];
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 48; k++) sum += v[k];
    out[i] = sum;
}
