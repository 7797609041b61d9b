// One time step of heat conduction in a stack of layers (eight at most). A thread owns one cell of every layer and walks down
// the stack, carrying the temperatures above and at its cell in registers and fetching the one below ahead of its use. The
// power of the CTA's cells in all layers is brought to shared memory first.

#define LAYERS 8
#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS)
hotspot3d(const float* __restrict__ power, const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz,
          float across_x, float across_y, float across_z, float centre, float step_over_capacity, float ambient)
{
    __shared__ float heat[LAYERS][THREADS];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int layer = nx * ny;
    int t = threadIdx.y * blockDim.x + threadIdx.x;

    // Half of the warps bring the power, each thread that of its own cells and of those half a CTA further down, with all
    // loads on their way at once.
    if (threadIdx.y < blockDim.y / 2) {
        const float* mine = power + min(y, ny - 1) * nx + min(x, nx - 1);
        const float* other = power + min(y + blockDim.y / 2, ny - 1) * nx + min(x, nx - 1);
        float upper[LAYERS], lower[LAYERS];
#pragma unroll
        for (int z = 0; z < LAYERS; z++) {
            upper[z] = lower[z] = 0.0f;
            if (z < nz) {
                upper[z] = mine[z * layer];
                lower[z] = other[z * layer];
            }
        }
#pragma unroll
        for (int z = 0; z < LAYERS; z++) {
            heat[z][t] = upper[z];
            heat[z][t + THREADS / 2] = lower[z];
        }
    }
    __syncthreads();
    if (x >= nx || y >= ny)
        return;

    int cell = y * nx + x;
    int west = cell - (x > 0);
    int east = cell + (x < nx - 1);
    int north = cell - (y > 0 ? nx : 0);
    int south = cell + (y < ny - 1 ? nx : 0);
    float here = in[cell];
    float above = here;

#pragma unroll 1
    for (int z = 0; z < nz; z++) {
        float below = in[cell + (z < nz - 1 ? layer : 0)];
        float sum = centre * here + across_x * (in[west] + in[east]) + across_y * (in[north] + in[south])
                    + across_z * (above + below);
        out[cell] = sum + step_over_capacity * heat[z][t] + across_z * ambient;
        above = here;
        here = below;
        cell += layer;
        west += layer;
        east += layer;
        north += layer;
        south += layer;
    }
}
