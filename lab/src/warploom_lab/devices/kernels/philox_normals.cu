// counter-based random numbers (Philox, ten rounds), two of four words become normal numbers, twice for each thread
extern "C" __global__ void philox_normals(float *out, unsigned seed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < 2; r++) {
        unsigned c0 = i, c1 = r, c2 = 0, c3 = 0, k0 = seed, k1 = 0xdeadbeefu;
#pragma unroll
        for (int k = 0; k < 10; k++) {
            unsigned h0 = __umulhi(0xd2511f53u, c0), l0 = 0xd2511f53u * c0, h1 = __umulhi(0xcd9e8d57u, c2), l1 = 0xcd9e8d57u * c2;
            c0 = h1 ^ c1 ^ k0;
            c1 = l1;
            c2 = h0 ^ c3 ^ k1;
            c3 = l0;
            k0 += 0x9e3779b9u;
            k1 += 0xbb67ae85u;
        }
        float4 made;
        float u = (c0 + 1.0f) * 2.3283064e-10f, v = c1 * 2.3283064e-10f, s, c;
        sincospif(2.0f * v, &s, &c);
        float length = sqrtf(-2.0f * logf(fminf(u, 1.0f)));
        made.x = length * s;
        made.y = length * c;
        u = (c2 + 1.0f) * 2.3283064e-10f;
        v = c3 * 2.3283064e-10f;
        sincospif(2.0f * v, &s, &c);
        length = sqrtf(-2.0f * logf(fminf(u, 1.0f)));
        made.z = length * s;
        made.w = length * c;
        ((float4 *)out)[r * 67584 + i] = made;
    }
}
