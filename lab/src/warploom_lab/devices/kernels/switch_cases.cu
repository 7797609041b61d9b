// eight ways through a loop, chosen by data
extern "C" __global__ void switch_cases(const unsigned *in, float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];
    float x = i * 0.001f + 1.0f;
    for (int r = 0; r < rounds; r++) {
        switch (v >> 13 & 7) {
            case 0: x = x * 1.5f + 0.5f; break;
            case 1: x = sqrtf(x + 1.0f); break;
            case 2: x = __expf(-x); break;
            case 3: x = x - floorf(x) + 0.25f; break;
            case 4: x = 1.0f / (x + 2.0f); break;
            case 5: x = __logf(x * x + 1.5f); break;
            case 6: x = fabsf(x) * 0.75f; break;
            default: x = __sinf(x); break;
        }
        v = v * 1664525u + 1013904223u;
    }
    out[i] = x;
}
