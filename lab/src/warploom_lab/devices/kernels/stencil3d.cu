// seven points in three dimensions, a column of z for each thread
extern "C" __global__ void stencil3d(const float *in, float *out, int n, int depth)
{
    int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1, plane = n * n, at = plane + y * n + x;
    float below = in[at - plane], here = in[at];
    for (int z = 1; z < depth - 1; z++, at += plane) {
        float above = in[at + plane];
        out[at] = 0.4f * here + 0.1f * (below + above + in[at - 1] + in[at + 1] + in[at - n] + in[at + n]);
        below = here;
        here = above;
    }
}
