// every thread writes one word somewhere in 8 MB: sectors are written in part
extern "C" __global__ void scatter_random(const float *a, const int *index, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[index[i]] = a[i];
}
