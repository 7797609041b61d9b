// threads that find something take numbers from one counter and append
extern "C" __global__ void counter_append(const unsigned *in, unsigned *counter, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];
    if (v % 3 == 0) out[atomicAdd(counter, 1u)] = v;
}
