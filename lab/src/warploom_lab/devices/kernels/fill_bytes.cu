// single bytes, four apart: every sector is written in part
extern "C" __global__ void fill_bytes(unsigned char *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[4 * i] = i;
}
