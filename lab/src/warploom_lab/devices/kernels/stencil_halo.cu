// sixteen steps of a 2D stencil inside a tile with its halo in shared memory
extern "C" __global__ void stencil_halo(const float *in, float *out, int n)
{
    __shared__ float s[2][34][34];
    int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32;
    for (int y = ty; y < 34; y += 8)
        for (int x = tx; x < 34; x += 32) s[0][y][x] = s[1][y][x] = in[(by + y) * n + bx + x];
    __syncthreads();
    for (int step = 0; step < 16; step++) {
        int from = step & 1;
        for (int y = ty + 1; y < 33; y += 8)
            s[1 - from][y][tx + 1] = 0.25f * (s[from][y - 1][tx + 1] + s[from][y + 1][tx + 1] + s[from][y][tx] + s[from][y][tx + 2]);
        __syncthreads();
    }
    for (int y = ty + 1; y < 33; y += 8) out[(by + y) * n + bx + tx + 1] = s[0][y][tx + 1];
}
