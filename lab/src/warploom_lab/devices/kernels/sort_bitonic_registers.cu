// a bitonic sort of 32 keys in the lanes of each warp, only shuffles
extern "C" __global__ void sort_bitonic_registers(unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned v = data[i];
#pragma unroll
    for (int size = 2; size <= 32; size *= 2)
#pragma unroll
        for (int gap = size / 2; gap; gap /= 2) {
            unsigned other = __shfl_xor_sync(~0u, v, gap);
            bool up = (lane & size) == 0, low = (lane & gap) == 0;
            v = up == low ? min(v, other) : max(v, other);
        }
    data[i] = v;
}
