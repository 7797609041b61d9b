// 256 bins in global memory, an atomic for every element
extern "C" __global__ void histogram_global(const unsigned *data, unsigned *bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[data[i] & 255], 1u);
}
