// Walsh-Hadamard transform of 256 numbers for each warp, eight in each lane, the rest by shuffles
extern "C" __global__ void hadamard_warp(float *data)
{
    int lane = threadIdx.x % 32;
    float4 *mine = (float4 *)(data + (blockIdx.x * 4 + threadIdx.x / 32) * 256 + lane * 8), p = mine[0], q = mine[1];
    float v[8] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
#pragma unroll
    for (int h = 1; h < 8; h *= 2)
#pragma unroll
        for (int i = 0; i < 8; i++)
            if (!(i & h)) {
                float a = v[i], b = v[i + h];
                v[i] = a + b;
                v[i + h] = a - b;
            }
#pragma unroll
    for (int h = 1; h < 32; h *= 2)
#pragma unroll
        for (int i = 0; i < 8; i++) {
            float other = __shfl_xor_sync(~0u, v[i], h);
            v[i] = lane & h ? other - v[i] : v[i] + other;
        }
    mine[0] = make_float4(v[0], v[1], v[2], v[3]);
    mine[1] = make_float4(v[4], v[5], v[6], v[7]);
}
