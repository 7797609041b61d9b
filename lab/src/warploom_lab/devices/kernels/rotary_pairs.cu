// pairs of numbers turned by angles that depend on the row and the pair: powers, sines and cosines with full range reduction
extern "C" __global__ void rotary_pairs(const float2 *x, float2 *out)
{
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * 128 + threadIdx.x, row = i / 64, pair = i % 64;
        float angle = row * powf(10000.0f, -pair / 64.0f), s, c;
        sincosf(angle, &s, &c);
        float2 v = x[i];
        out[i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
    }
}
