// eight steps of Jacobi's method in shared memory on a tile that shrinks with every step
extern "C" __global__ void jacobi_tile_steps(const float *in, float *out, int n, int steps)
{
    __shared__ float s[2][44][45];
    int x0 = blockIdx.x * 28, y0 = blockIdx.y * 28, t = threadIdx.y * 16 + threadIdx.x;
    for (int i = t; i < 44 * 44; i += 256) s[0][i / 44][i % 44] = s[1][i / 44][i % 44] = in[(y0 + i / 44) * n + x0 + i % 44];
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        float(*from)[45] = s[k & 1], (*to)[45] = s[~k & 1];
        for (int y = threadIdx.y + 1 + k; y < 43 - k; y += 16)
            for (int x = threadIdx.x + 1 + k; x < 43 - k; x += 16)
                to[y][x] = 0.25f * (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]);
        __syncthreads();
    }
    for (int i = t; i < 28 * 28; i += 256) out[(y0 + 8 + i / 28) * n + x0 + 8 + i % 28] = s[steps & 1][8 + i / 28][8 + i % 28];
}
