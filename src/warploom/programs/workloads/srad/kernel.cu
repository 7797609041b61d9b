// One step of speckle-reducing anisotropic diffusion. The first kernel finds each pixel's differences to its four neighbours and
// its diffusion coefficient, the second moves intensity along them. Tiles of pixels lie in shared memory; only neighbours
// beyond the tile's edge come from global memory.

#define SIDE 16

struct Neighbourhood {
    float north, south, west, east;
};

// Two rows of pixels a thread, so that one's divisions overlap the other's.
extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
diffusion_coefficients(const float* __restrict__ image, Neighbourhood* __restrict__ gradient, float* __restrict__ coefficient,
                       int width, int height, float speckle)
{
    __shared__ float tile[2 * SIDE][SIDE];
    int tx = threadIdx.x;
    int ty = 2 * threadIdx.y;
    int x = blockIdx.x * SIDE + tx;
    int y = blockIdx.y * 2 * SIDE + ty;
    int pixel = y * width + x;
    float centre[2] = {image[pixel], image[pixel + width]};
    tile[ty][tx] = centre[0];
    tile[ty + 1][tx] = centre[1];
    __syncthreads();

    Neighbourhood to[2];
    to[0].north = (ty > 0 ? tile[ty - 1][tx] : image[y > 0 ? pixel - width : pixel]) - centre[0];
    to[0].south = centre[1] - centre[0];
    to[1].north = -to[0].south;
    to[1].south = (ty < 2 * SIDE - 2 ? tile[ty + 2][tx] : image[y < height - 2 ? pixel + 2 * width : pixel + width]) - centre[1];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int here = pixel + i * width;
        to[i].west = (tx > 0 ? tile[ty + i][tx - 1] : image[x > 0 ? here - 1 : here]) - centre[i];
        to[i].east = (tx < SIDE - 1 ? tile[ty + i][tx + 1] : image[x < width - 1 ? here + 1 : here]) - centre[i];
    }

    float variation[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float squares = to[i].north * to[i].north + to[i].south * to[i].south + to[i].west * to[i].west + to[i].east * to[i].east;
        float inverse = __fdividef(1.0f, centre[i]);
        float laplacian = (to[i].north + to[i].south + to[i].west + to[i].east) * inverse;
        float numerator = 0.5f * squares * inverse * inverse - 0.0625f * laplacian * laplacian;
        float denominator = 1.0f + 0.25f * laplacian;
        variation[i] = __fdividef(numerator, denominator * denominator);
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float excess = __fdividef(variation[i] - speckle, speckle * (1.0f + speckle));
        gradient[pixel + i * width] = to[i];
        coefficient[pixel + i * width] = __saturatef(__fdividef(1.0f, 1.0f + excess));
    }
}

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
diffuse(float* __restrict__ image, const Neighbourhood* __restrict__ gradient, const float* __restrict__ coefficient, int width,
        int height, float quarter_step)
{
    __shared__ float tile[SIDE][SIDE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int x = blockIdx.x * SIDE + tx;
    int y = blockIdx.y * SIDE + ty;
    int pixel = y * width + x;
    float centre = coefficient[pixel];
    tile[ty][tx] = centre;
    __syncthreads();

    float south = ty < SIDE - 1 ? tile[ty + 1][tx] : coefficient[y < height - 1 ? pixel + width : pixel];
    float east = tx < SIDE - 1 ? tile[ty][tx + 1] : coefficient[x < width - 1 ? pixel + 1 : pixel];
    Neighbourhood to = gradient[pixel];
    image[pixel] += quarter_step * (centre * (to.north + to.west) + south * to.south + east * to.east);
}
