// 256 bins in shared memory for each CTA, added to those in global memory at the end
extern "C" __global__ void histogram_block(const unsigned *data, unsigned *bins, int n)
{
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = data[i];
        atomicAdd(&mine[v & 255], 1u);
        atomicAdd(&mine[v >> 8 & 255], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
