// some five thousand instructions without a loop
extern "C" __global__ void straight_line(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], y = x + 1.0f, z = x * 2.0f;
#pragma unroll
    for (int k = 0; k < 1600; k++) {
        x = x * y + (0.5f + k);
        y = y * z + (1.5f * k);
        z = z * x - (0.25f * k);
    }
    out[i] = x + y + z;
}
