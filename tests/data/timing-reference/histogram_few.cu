extern "C" __global__ void histogram_few(const int *data, int *bins)
{
    __shared__ int count[16];
    if (threadIdx.x < 16) count[threadIdx.x] = 0;
    __nvvm_bar_sync(0);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 8; k++) __nvvm_atom_add_gen_i(&count[data[i + k * 15360] & 15], 1);
    __nvvm_bar_sync(0);
    if (threadIdx.x < 16) __nvvm_atom_add_gen_i(&bins[threadIdx.x], count[threadIdx.x]);
}
