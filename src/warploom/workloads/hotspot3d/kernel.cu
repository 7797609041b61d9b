// One time step of heat conduction in a stack of layers. A thread owns one cell of every layer and walks down the stack,
// carrying the temperatures above and at its cell in registers and fetching the one below ahead of its use.

extern "C" __global__ void __launch_bounds__(256)
hotspot3d(const float* __restrict__ power, const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz,
          float across_x, float across_y, float across_z, float centre, float step_over_capacity, float ambient)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;

    int layer = nx * ny;
    int cell = y * nx + x;
    int west = cell - (x > 0);
    int east = cell + (x < nx - 1);
    int north = cell - (y > 0 ? nx : 0);
    int south = cell + (y < ny - 1 ? nx : 0);
    float here = in[cell];
    float above = here;

#pragma unroll 4
    for (int z = 0; z < nz; z++) {
        float below = in[cell + (z < nz - 1 ? layer : 0)];
        float sum = centre * here + across_x * (in[west] + in[east]) + across_y * (in[north] + in[south])
                    + across_z * (above + below);
        out[cell] = sum + step_over_capacity * power[cell] + across_z * ambient;
        above = here;
        here = below;
        cell += layer;
        west += layer;
        east += layer;
        north += layer;
        south += layer;
    }
}
