// quotients and remainders of 32 and 64 bits
extern "C" __global__ void integer_division(const unsigned *in, unsigned long long *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i] | 1u << 30, b = i + 3;
    unsigned long long sum = 0, wide = (unsigned long long)a << 20;
    for (int r = 0; r < rounds; r++) {
        sum += a / b + a % (b + r);
        wide = wide / (b + r) + ((unsigned long long)a << 22);
        a += 12345;
    }
    out[i] = sum + wide;
}
