// tiles of 32 x 32 transposed by vectors of four on both sides; places in shared memory are mixed by exclusive or
extern "C" __global__ void transpose_swizzled(const float4 *in, float4 *out, int n)
{
    __shared__ float s[32][32];
    int x = threadIdx.x, y = threadIdx.y, pitch = n / 4;
    float4 v = in[(blockIdx.y * 32 + y) * pitch + blockIdx.x * 8 + x];
    s[y][(x * 4) ^ y] = v.x;
    s[y][(x * 4 + 1) ^ y] = v.y;
    s[y][(x * 4 + 2) ^ y] = v.z;
    s[y][(x * 4 + 3) ^ y] = v.w;
    __syncthreads();
    v.x = s[x * 4][y ^ (x * 4)];
    v.y = s[x * 4 + 1][y ^ (x * 4 + 1)];
    v.z = s[x * 4 + 2][y ^ (x * 4 + 2)];
    v.w = s[x * 4 + 3][y ^ (x * 4 + 3)];
    out[(blockIdx.x * 32 + y) * pitch + blockIdx.y * 8 + x] = v;
}
