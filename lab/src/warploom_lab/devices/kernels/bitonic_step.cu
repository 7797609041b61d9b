// one step of a bitonic sort of a million keys in global memory
extern "C" __global__ void bitonic_step(int *data, int gap, int size)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, lo = 2 * t - (t & (gap - 1)), hi = lo + gap, u = data[lo], v = data[hi];
    if ((u > v) == ((lo & size) == 0)) {
        data[lo] = v;
        data[hi] = u;
    }
}
