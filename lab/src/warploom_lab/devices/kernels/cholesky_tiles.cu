// Cholesky factors of a matrix of 32 x 32 in shared memory for each CTA
extern "C" __global__ void cholesky_tiles(float *a)
{
    __shared__ float s[32][33];
    float *mine = a + blockIdx.x * 1024;
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += 128) s[i / 32][i % 32] = mine[i];
    __syncthreads();
    for (int k = 0; k < 32; k++) {
        if (t == 0) s[k][k] = sqrtf(s[k][k]);
        __syncthreads();
        if (t > k && t < 32) s[t][k] /= s[k][k];
        __syncthreads();
        int c = t % 32;
        if (c > k)
            for (int r = k + 1 + t / 32; r < 32; r += 4)
                if (r >= c) s[r][c] -= s[r][k] * s[c][k];
        __syncthreads();
    }
    for (int i = t; i < 1024; i += 128) mine[i] = i % 32 <= i / 32 ? s[i / 32][i % 32] : 0.0f;
}
