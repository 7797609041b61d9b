// the nearest of 256 words of 256 bits by differing bits, words of the book in shared memory
extern "C" __global__ void hamming_nearest(const uint4 *code, const uint4 *book, int *out, int count)
{
    __shared__ uint4 s[512];
    for (int i = threadIdx.x; i < 512; i += 128) s[i] = book[i];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = 257, where = 0;
    uint4 a = code[2 * i], b = code[2 * i + 1];
    for (int k = 0; k < count; k++) {
        uint4 u = s[2 * k], v = s[2 * k + 1];
        int d = __popc(a.x ^ u.x) + __popc(a.y ^ u.y) + __popc(a.z ^ u.z) + __popc(a.w ^ u.w);
        d += __popc(b.x ^ v.x) + __popc(b.y ^ v.y) + __popc(b.z ^ v.z) + __popc(b.w ^ v.w);
        if (d < best) {
            best = d;
            where = k;
        }
    }
    out[i] = where << 16 | best;
}
