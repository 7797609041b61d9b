// powers modulo a prime: 64-bit products and remainders, as many rounds as the exponent has bits
extern "C" __global__ void modular_power(const unsigned long long *base, const unsigned long long *exponent, unsigned long long *out, unsigned long long modulus)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long b = base[i] % modulus, e = exponent[i], made = 1;
    for (; e; e >>= 1) {
        if (e & 1) made = made * b % modulus;
        b = b * b % modulus;
    }
    out[i] = made;
}
