// 64-bit atomics: sums, maxima, and a loop of compare and swap
extern "C" __global__ void atomic_wide(const unsigned *in, unsigned long long *sums, unsigned long long *most, double *total)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];
    atomicAdd(&sums[v & 1023], (unsigned long long)v);
    atomicMax(&most[v >> 10 & 1023], (unsigned long long)v);
    unsigned long long *at = (unsigned long long *)&total[v >> 4 & 4095], old = *at, seen;
    do {
        seen = old;
        old = atomicCAS(at, seen, (unsigned long long)__double_as_longlong(__longlong_as_double(seen) + 1.0));
    } while (old != seen);
}
