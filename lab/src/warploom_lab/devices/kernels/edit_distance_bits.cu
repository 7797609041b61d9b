// edit distances to a pattern of 64 letters by Myers' method: 64-bit integers, a text of 64 letters for each thread
extern "C" __global__ void edit_distance_bits(const uint4 *text, const unsigned long long *masks, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, score = 64;
    unsigned long long plus = ~0ull, minus = 0, m0 = masks[0], m1 = masks[1], m2 = masks[2], m3 = masks[3];
    for (int k = 0; k < 4; k++) {
        uint4 v = text[i * 4 + k];
        unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int w = 0; w < 4; w++)
            for (int b = 0; b < 32; b += 8) {
                unsigned c = word[w] >> b & 3;
                unsigned long long eq = c & 2 ? (c & 1 ? m3 : m2) : c & 1 ? m1 : m0;
                unsigned long long x = eq | minus, d = ((plus + (x & plus)) ^ plus) | x;
                unsigned long long more = minus | ~(d | plus), less = d & plus;
                score += (int)(more >> 63) - (int)(less >> 63);
                more = more << 1 | 1;
                plus = less << 1 | ~(d | more);
                minus = d & more;
            }
    }
    out[i] = score;
}
