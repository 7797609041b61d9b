// Householder's reflections of a panel of 64 x 16 for each CTA, a row for each thread
extern "C" __global__ void qr_householder(float *a)
{
    __shared__ float s[64][17], v[64], part[2];
    float *mine = a + blockIdx.x * 1024;
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += 64) s[i / 16][i % 16] = mine[i];
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        float x = t >= k ? s[t][k] : 0.0f, square = x * x;
        for (int d = 16; d; d >>= 1) square += __shfl_xor_sync(~0u, square, d);
        if (t % 32 == 0) part[t / 32] = square;
        __syncthreads();
        float norm = sqrtf(part[0] + part[1]), pivot = s[k][k];
        float alpha = pivot > 0 ? -norm : norm, beta = 1.0f / (norm * norm - pivot * alpha);
        v[t] = t == k ? x - alpha : x;
        __syncthreads();
        if (t > k && t < 16) {
            float dot = 0;
            for (int r = k; r < 64; r++) dot += v[r] * s[r][t];
            dot *= beta;
            for (int r = k; r < 64; r++) s[r][t] -= dot * v[r];
        }
        __syncthreads();
        if (t >= k) s[t][k] = t == k ? alpha : v[t];
        __syncthreads();
    }
    for (int i = t; i < 1024; i += 64) mine[i] = s[i / 16][i % 16];
}
