// places where a pattern of 12 bytes begins, four for each thread, most fail early
extern "C" __global__ void string_match(const unsigned char *text, const unsigned char *pattern, int *count)
{
    __shared__ __align__(4) unsigned char s[1056], p[12];
    int base = blockIdx.x * 1024, t = threadIdx.x, found = 0;
    if (t < 12) p[t] = pattern[t];
    for (int i = t; i < 264; i += 256)
        ((unsigned *)s)[i] = ((const unsigned *)(text + base))[i];
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int at = k * 256 + t, j = 0;
        while (j < 12 && s[at + j] == p[j]) j++;
        found += j >= 6;
    }
    found = __reduce_add_sync(~0u, found);
    if (t % 32 == 0 && found) atomicAdd(count, found);
}
