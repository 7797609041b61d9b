// greatest common divisors by Euclid's method, four pairs for each thread, lanes need different numbers of steps
extern "C" __global__ void gcd_pairs(const unsigned *a, const unsigned *b, unsigned *out)
{
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
        unsigned x = a[i], y = b[i];
        while (y) {
            unsigned rest = x % y;
            x = y;
            y = rest;
        }
        out[i] = x;
    }
}
