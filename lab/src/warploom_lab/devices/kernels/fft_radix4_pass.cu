// one pass of radix 4 over complex numbers in memory, twiddles by sine and cosine
extern "C" __global__ void fft_radix4_pass(const float2 *in, float2 *out, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, quarter = n / 4, k = i % stride, at = (i / stride) * stride * 4 + k;
    float2 v[4];
    for (int r = 0; r < 4; r++) {
        float2 u = in[i + r * quarter];
        float s, c;
        sincospif(-0.5f * k * r / stride, &s, &c);
        v[r] = make_float2(u.x * c - u.y * s, u.x * s + u.y * c);
    }
    float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
    float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].x - v[3].x, v[1].y - v[3].y);
    out[at] = make_float2(a.x + c.x, a.y + c.y);
    out[at + stride] = make_float2(b.x + d.y, b.y - d.x);
    out[at + 2 * stride] = make_float2(a.x - c.x, a.y - c.y);
    out[at + 3 * stride] = make_float2(b.x - d.y, b.y + d.x);
}
