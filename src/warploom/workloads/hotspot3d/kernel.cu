// One time step of heat conduction in a stack of layers. A thread owns two neighbouring cells of every layer and walks
// down the stack, carrying the temperatures above and at the cells in registers and fetching the layer below ahead of its use.

#define CELLS 2

extern "C" __global__ void __launch_bounds__(256)
hotspot3d(const float* __restrict__ power, const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz,
          float across_x, float across_y, float across_z, float centre, float step_over_capacity, float ambient)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = (blockIdx.y * blockDim.y + threadIdx.y) * CELLS;
    if (x >= nx || y >= ny)
        return;

    int layer = nx * ny;
    int cell = y * nx + x;
    int west = cell - (x > 0);
    int east = cell + (x < nx - 1);
    int north = cell - (y > 0 ? nx : 0);
    int south = cell + (y < ny - CELLS ? CELLS * nx : nx);

    float here[CELLS], above[CELLS], below[CELLS];
#pragma unroll
    for (int i = 0; i < CELLS; i++)
        above[i] = here[i] = in[cell + i * nx];

#pragma unroll 2
    for (int z = 0; z < nz; z++) {
        int down = z < nz - 1 ? layer : 0;
#pragma unroll
        for (int i = 0; i < CELLS; i++)
            below[i] = in[cell + i * nx + down];
        float before = in[north];
        float after = in[south];
#pragma unroll
        for (int i = 0; i < CELLS; i++) {
            float up_y = i == 0 ? before : here[0];
            float down_y = i == CELLS - 1 ? after : here[CELLS - 1];
            float sum = centre * here[i] + across_x * (in[west + i * nx] + in[east + i * nx]) + across_y * (up_y + down_y)
                        + across_z * (above[i] + below[i]);
            out[cell + i * nx] = sum + step_over_capacity * power[cell + i * nx] + across_z * ambient;
        }
#pragma unroll
        for (int i = 0; i < CELLS; i++) {
            above[i] = here[i];
            here[i] = below[i];
        }
        cell += layer;
        west += layer;
        east += layer;
        north += layer;
        south += layer;
    }
}
