// a transform of 512 complex points for each CTA, radix 2, twiddles by sine and cosine
extern "C" __global__ void fft_shared(const float2 *in, float2 *out)
{
    __shared__ float2 s[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    s[__brev(t) >> 23] = in[base + t];
    s[__brev(t + 256) >> 23] = in[base + t + 256];
    for (int half = 1; half < 512; half *= 2) {
        __syncthreads();
        int k = t & (half - 1), a = 2 * t - k, b = a + half;
        float c, d;
        __sincosf(-3.14159265f * k / half, &d, &c);
        float2 u = s[a], v = s[b];
        float2 w = make_float2(c * v.x - d * v.y, c * v.y + d * v.x);
        s[a] = make_float2(u.x + w.x, u.y + w.y);
        s[b] = make_float2(u.x - w.x, u.y - w.y);
    }
    __syncthreads();
    out[base + t] = s[t];
    out[base + t + 256] = s[t + 256];
}
