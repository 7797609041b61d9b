// the nearest of 32 centres in 16 dimensions for each point, centres in shared memory, sums of labels by shared atomics
extern "C" __global__ void kmeans_assign(const float *point, const float *centre, int *label, float *sums, int *counts)
{
    __shared__ float c[32][16], s[32];
    __shared__ int n[32];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, best = 0;
    for (int k = t; k < 512; k += 128) c[k / 16][k % 16] = centre[k];
    if (t < 32) {
        n[t] = 0;
        s[t] = 0;
    }
    __syncthreads();
    float p[16], nearest = 1e30f;
#pragma unroll
    for (int d = 0; d < 16; d++) p[d] = point[d * 42240 + i];
    for (int k = 0; k < 32; k++) {
        float sum = 0;
#pragma unroll
        for (int d = 0; d < 16; d++) sum += (p[d] - c[k][d]) * (p[d] - c[k][d]);
        if (sum < nearest) {
            nearest = sum;
            best = k;
        }
    }
    label[i] = best;
    atomicAdd(&n[best], 1);
    atomicAdd(&s[best], p[0]);
    __syncthreads();
    if (t < 32 && n[t]) {
        atomicAdd(&counts[t], n[t]);
        atomicAdd(&sums[t * 16], s[t]);
    }
}
