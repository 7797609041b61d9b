// One step of speckle-reducing anisotropic diffusion. The first kernel finds each pixel's differences to its four neighbours and
// its diffusion coefficient, the second moves intensity along them. Tiles of 16 x 16 pixels lie in shared memory; only neighbours
// beyond the tile's edge come from global memory.

#define SIDE 16

struct Neighbourhood {
    float north, south, west, east;
};

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
diffusion_coefficients(const float* __restrict__ image, Neighbourhood* __restrict__ gradient, float* __restrict__ coefficient,
                       int width, int height, float speckle)
{
    __shared__ float tile[SIDE][SIDE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int x = blockIdx.x * SIDE + tx;
    int y = blockIdx.y * SIDE + ty;
    int pixel = y * width + x;
    float centre = image[pixel];
    tile[ty][tx] = centre;
    __syncthreads();

    Neighbourhood to;
    to.north = (ty > 0 ? tile[ty - 1][tx] : image[y > 0 ? pixel - width : pixel]) - centre;
    to.south = (ty < SIDE - 1 ? tile[ty + 1][tx] : image[y < height - 1 ? pixel + width : pixel]) - centre;
    to.west = (tx > 0 ? tile[ty][tx - 1] : image[x > 0 ? pixel - 1 : pixel]) - centre;
    to.east = (tx < SIDE - 1 ? tile[ty][tx + 1] : image[x < width - 1 ? pixel + 1 : pixel]) - centre;

    float squares = to.north * to.north + to.south * to.south + to.west * to.west + to.east * to.east;
    float inverse = __fdividef(1.0f, centre);
    float laplacian = (to.north + to.south + to.west + to.east) * inverse;
    float numerator = 0.5f * squares * inverse * inverse - 0.0625f * laplacian * laplacian;
    float denominator = 1.0f + 0.25f * laplacian;
    float variation = __fdividef(numerator, denominator * denominator);
    float excess = __fdividef(variation - speckle, speckle * (1.0f + speckle));
    gradient[pixel] = to;
    coefficient[pixel] = __saturatef(__fdividef(1.0f, 1.0f + excess));
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
