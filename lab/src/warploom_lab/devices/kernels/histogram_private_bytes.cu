// a byte counter of its own for each thread and bin in shared memory, summed at the end
extern "C" __global__ void histogram_private_bytes(const uint4 *data, unsigned *bins)
{
    __shared__ __align__(4) unsigned char s[64 * 64];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += 64) ((unsigned *)s)[i] = 0;
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        uint4 v = data[blockIdx.x * 1280 + k * 64 + t];
        unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int w = 0; w < 4; w++)
#pragma unroll
            for (int b = 0; b < 32; b += 8) s[(word[w] >> b & 63) * 64 + t]++;
    }
    __syncthreads();
    unsigned sum = 0;
    for (int i = 0; i < 64; i++) sum += s[t * 64 + (i + t) % 64];
    atomicAdd(&bins[t], sum);
}
