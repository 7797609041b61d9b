// three waves of CTAs and one more, some of which take four times as long
extern "C" __global__ void waves_with_tail(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, rounds = blockIdx.x % 7 == 0 ? 400 : 100;
    float x = in[i % n], y = 0.5f;
#pragma unroll 4
    for (int k = 0; k < rounds; k++) {
        x = x * 1.01f + y;
        y = y * 0.99f + x;
    }
    out[i] = x + y;
}
