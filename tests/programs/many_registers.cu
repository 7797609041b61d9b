/* A kernel with as many registers as a thread can have, and uniform values beside them. */
#include <cstdio>

const int count = 250;

__global__ void many(float *out, const float *in, int n, int m) {
    float v[count];
#pragma unroll
    for (int i = 0; i < count; i++) v[i] = in[i * 32 + threadIdx.x];
    int a = n * m, b = n * 3 + m, c = m * m + n, d = n ^ m;
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int i = 0; i < count; i++) v[i] = v[i] * v[(i + 7) % count] + in[k];
        a += b * k, b = a * 3 + (c << 1), c ^= d + k, d = d * 5 + a;
    }
#pragma unroll
    for (int i = 0; i < count; i++) out[i * 32 + threadIdx.x] = v[i];
    out[a & 1] += b ^ c ^ d;
}

int main() {
    static float host[count * 32];
    float *in, *out;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    for (int i = 0; i < count * 32; i++) host[i] = 0.5f;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    for (int i = 0; i < 2; i++) {
        many<<<1, 32>>>(out, in, 1, 2);
        printf("%s ", cudaGetErrorName(cudaGetLastError()));
    }
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g\n", host[77]);
}
