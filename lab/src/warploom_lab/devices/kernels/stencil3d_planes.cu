// 13 points of a cube: planes in shared memory, what lies before and behind in registers, halves of the depth for two CTAs
extern "C" __global__ void stencil3d_planes(const float *in, float *out, int nz)
{
    __shared__ float s[12][36];
    const int nx = 196, ny = 196, plane = nx * ny;
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx + 2, y = blockIdx.y * 8 + ty + 2;
    int z0 = blockIdx.z * (nz / 2) + 2, z1 = min(z0 + nz / 2, nz - 2);
    const float *at = in + y * nx + x;
    float b2 = at[(z0 - 2) * plane], b1 = at[(z0 - 1) * plane], now = at[z0 * plane], f1 = at[(z0 + 1) * plane], f2;
    for (int z = z0; z < z1; z++) {
        f2 = at[(z + 2) * plane];
        __syncthreads();
        s[ty + 2][tx + 2] = now;
        if (ty < 2) {
            s[ty][tx + 2] = at[z * plane - 2 * nx];
            s[ty + 10][tx + 2] = at[z * plane + 8 * nx];
        }
        if (tx < 2) {
            s[ty + 2][tx] = at[z * plane - 2];
            s[ty + 2][tx + 34] = at[z * plane + 32];
        }
        __syncthreads();
        float near = s[ty + 2][tx + 1] + s[ty + 2][tx + 3] + s[ty + 1][tx + 2] + s[ty + 3][tx + 2] + b1 + f1;
        float far = s[ty + 2][tx] + s[ty + 2][tx + 4] + s[ty][tx + 2] + s[ty + 4][tx + 2] + b2 + f2;
        out[z * plane + y * nx + x] = 0.4f * now + 0.08f * near + 0.02f * far;
        b2 = b1;
        b1 = now;
        now = f1;
        f1 = f2;
    }
}
