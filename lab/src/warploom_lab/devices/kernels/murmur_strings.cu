// a hash of 48 bytes for each thread, mixed as Murmur does
extern "C" __global__ void murmur_strings(const uint4 *text, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned h = 0x9747b28cu;
    for (int k = 0; k < 3; k++) {
        uint4 v = text[i * 3 + k];
        unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int w = 0; w < 4; w++) {
            unsigned m = word[w] * 0xcc9e2d51u;
            m = (m << 15 | m >> 17) * 0x1b873593u;
            h ^= m;
            h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
        }
    }
    h ^= 48;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    out[i] = h ^ h >> 16;
}
