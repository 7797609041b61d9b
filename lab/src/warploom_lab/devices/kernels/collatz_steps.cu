// integer loops of very different length in each lane
extern "C" __global__ void collatz_steps(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    unsigned long long v = i + 1;
    if (i >= n) return;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        steps++;
    }
    out[i] = steps;
}
