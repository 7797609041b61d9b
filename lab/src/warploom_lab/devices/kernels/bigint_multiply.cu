// products of numbers of 256 bits, words with carries, word w of number i at w * all + i
extern "C" __global__ void bigint_multiply(const unsigned *a, const unsigned *b, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    unsigned x[8], y[8], r[16];
#pragma unroll
    for (int w = 0; w < 8; w++) {
        x[w] = a[w * all + i];
        y[w] = b[w * all + i];
    }
#pragma unroll
    for (int w = 0; w < 16; w++) r[w] = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        unsigned long long carry = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            carry += (unsigned long long)x[j] * y[k] + r[j + k];
            r[j + k] = (unsigned)carry;
            carry >>= 32;
        }
        r[j + 8] = (unsigned)carry;
    }
#pragma unroll
    for (int w = 0; w < 16; w++) out[w * all + i] = r[w];
}
