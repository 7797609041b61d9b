// the game of life on bytes in shared memory
extern "C" __global__ void life_bytes(const unsigned char *in, unsigned char *out, int n)
{
    __shared__ unsigned char s[10][34];
    int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
    for (int y = ty; y < 10; y += 8)
        for (int x = tx; x < 34; x += 32) s[y][x] = in[(y0 + y) * n + x0 + x];
    __syncthreads();
    int alive = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) alive += s[ty + j][tx + i];
    alive -= s[ty + 1][tx + 1];
    out[(y0 + ty + 1) * n + x0 + tx + 1] = alive == 3 || (alive == 2 && s[ty + 1][tx + 1]);
}
