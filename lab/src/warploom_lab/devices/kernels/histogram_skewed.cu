// most elements meet in few bins of shared memory
extern "C" __global__ void histogram_skewed(const unsigned *data, unsigned *bins, int n)
{
    __shared__ unsigned mine[64];
    if (threadIdx.x < 64) mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = data[i] & 63;
        atomicAdd(&mine[v < 40 ? v & 3 : v], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
