// attention with a running softmax: a head for blockIdx.y, 64 queries for each CTA, two threads share a query, keys in tiles of 32
extern "C" __global__ void attention_tile(const float *q, const float *k, const float *v, float *out, int length)
{
    __shared__ float ks[32][64], vs[32][64];
    int t = threadIdx.x, row = blockIdx.x * 64 + t / 2, half = t % 2 * 32;
    long head = (long)blockIdx.y * length * 64;
    float mine[32], sum[32], most = -1e30f, total = 0;
    for (int d = 0; d < 32; d++) {
        mine[d] = q[head + row * 64 + half + d] * 0.125f;
        sum[d] = 0;
    }
    for (int j0 = 0; j0 < 128; j0 += 32) {
        __syncthreads();
        for (int i = t; i < 2048; i += 128) {
            ks[i / 64][i % 64] = k[head + j0 * 64 + i];
            vs[i / 64][i % 64] = v[head + j0 * 64 + i];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float score = 0;
#pragma unroll
            for (int d = 0; d < 32; d++) score += mine[d] * ks[j][half + d];
            score += __shfl_xor_sync(~0u, score, 1);
            float top = fmaxf(most, score), before = __expf(most - top), weight = __expf(score - top);
            total = total * before + weight;
            most = top;
#pragma unroll
            for (int d = 0; d < 32; d++) sum[d] = sum[d] * before + weight * vs[j][half + d];
        }
    }
    for (int d = 0; d < 32; d++) out[head + row * 64 + half + d] = sum[d] / total;
}
