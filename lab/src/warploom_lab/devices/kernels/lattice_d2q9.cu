// a step of a lattice gas with nine directions: pull, collide; edges wrap around
extern "C" __global__ void lattice_d2q9(const float *f, float *out, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, all = nx * ny;
    const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    float v[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int d = 0; d < 9; d++) {
        int sx = x - cx[d], sy = y - cy[d];
        sx = sx < 0 ? sx + nx : sx >= nx ? sx - nx : sx;
        sy = sy < 0 ? sy + ny : sy >= ny ? sy - ny : sy;
        v[d] = f[d * all + sy * nx + sx];
        rho += v[d];
        ux += v[d] * cx[d];
        uy += v[d] * cy[d];
    }
    ux /= rho;
    uy /= rho;
    float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int d = 0; d < 9; d++) {
        float weight = d == 0 ? 4.0f / 9 : d < 5 ? 1.0f / 9 : 1.0f / 36, cu = 3.0f * (cx[d] * ux + cy[d] * uy);
        out[d * all + y * nx + x] = v[d] + 0.6f * (weight * rho * (1.0f + cu + 0.5f * cu * cu - square) - v[d]);
    }
}
