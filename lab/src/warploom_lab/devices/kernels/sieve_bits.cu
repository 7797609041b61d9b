// multiples of 168 numbers are struck out of 32,768 bits in shared memory by atomics, what is left is counted
extern "C" __global__ void sieve_bits(const int *number, unsigned *count)
{
    __shared__ unsigned bits[1024], left;
    int t = threadIdx.x, low = blockIdx.x * 32768;
    for (int i = t; i < 1024; i += 256) bits[i] = ~0u;
    if (t == 0) left = 0;
    __syncthreads();
    for (int k = t / 32; k < 168; k += 8) {
        int p = number[k], first = (low + p - 1) / p * p - low;
        for (int m = first + t % 32 * p; m < 32768; m += 32 * p) atomicAnd(&bits[m / 32], ~(1u << m % 32));
    }
    __syncthreads();
    unsigned mine = 0;
    for (int i = t; i < 1024; i += 256) mine += __popc(bits[i]);
    atomicAdd(&left, mine);
    __syncthreads();
    if (t == 0) count[blockIdx.x] = left;
}
