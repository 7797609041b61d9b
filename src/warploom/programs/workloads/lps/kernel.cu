// One Jacobi iteration of Laplace's equation on a box. A CTA of 32 x 4 threads owns a column of 32 x 4 cells and climbs
// through the planes: three planes with a ring of neighbours lie in shared memory and rotate. The first 76 threads fetch the
// ring. Cells on the surface of the box keep their value.

#define BX 32
#define BY 4
#define PLANE ((BX + 2) * (BY + 2))

extern "C" __global__ void lps(int nx, int ny, int nz, const float* before, float* after)
{
    __shared__ float planes[3 * PLANE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int t = y * BX + x;
    const int pitch = nx * ny;

    const int column = blockIdx.x * BX + x;
    const int row = blockIdx.y * BY + y;
    const bool inside = column < nx && row < ny;
    const int own = (y + 1) * (BX + 2) + x + 1;
    int place = row * nx + column;

    // The thread's cell of the ring: the rows below and above with the corners, then the two sides.
    int ring_x, ring_y;
    if (t < 2 * (BX + 2)) {
        ring_y = t < BX + 2 ? 0 : BY + 1;
        ring_x = t < BX + 2 ? t : t - (BX + 2);
    } else {
        ring_y = (t - 2 * (BX + 2)) / 2 + 1;
        ring_x = t % 2 * (BX + 1);
    }
    const int ring_column = blockIdx.x * BX + ring_x - 1;
    const int ring_row = blockIdx.y * BY + ring_y - 1;
    const bool has_ring = t < 2 * (BX + 2 + BY) && ring_column >= 0 && ring_column < nx && ring_row >= 0 && ring_row < ny;
    const int ring = ring_y * (BX + 2) + ring_x;
    int ring_place = ring_row * nx + ring_column;

    const bool surface = column == 0 || column == nx - 1 || row == 0 || row == ny - 1;
    int below = 2 * PLANE, current = 0, above = PLANE;
    if (inside)
        planes[current + own] = before[place];
    if (has_ring)
        planes[current + ring] = before[ring_place];

#pragma unroll 1
    for (int z = 0; z < nz; ++z) {
        if (z < nz - 1) {
            if (inside)
                planes[above + own] = before[place + pitch];
            if (has_ring)
                planes[above + ring] = before[ring_place + pitch];
        }
        __syncthreads();
        if (inside) {
            float value = planes[current + own];
            if (!surface && z > 0 && z < nz - 1)
                value = (planes[current + own - 1] + planes[current + own + 1] + planes[current + own - (BX + 2)]
                         + planes[current + own + (BX + 2)] + planes[below + own] + planes[above + own]) * (1.0f / 6.0f);
            after[place] = value;
        }
        __syncthreads();
        place += pitch;
        ring_place += pitch;
        const int oldest = below;
        below = current;
        current = above;
        above = oldest;
    }
}
