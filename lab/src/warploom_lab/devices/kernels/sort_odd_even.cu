// odd-even transposition of 256 numbers for each CTA in shared memory
extern "C" __global__ void sort_odd_even(int *data)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * 256 + t];
    s[t + 128] = data[blockIdx.x * 256 + t + 128];
    __syncthreads();
    for (int k = 0; k < 256; k++) {
        int i = 2 * t + (k & 1);
        if (i < 255 && s[i] > s[i + 1]) {
            int v = s[i];
            s[i] = s[i + 1];
            s[i + 1] = v;
        }
        __syncthreads();
    }
    data[blockIdx.x * 256 + t] = s[t];
    data[blockIdx.x * 256 + t + 128] = s[t + 128];
}
