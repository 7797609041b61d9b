// pairs of places of a video's frame, YUYV, become packed RGBA in whole numbers, four places for each thread
extern "C" __global__ void yuv_to_rgb(const uint2 *yuv, uint4 *rgb)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint2 two = yuv[i];
    unsigned made[4];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        unsigned w = k ? two.y : two.x;
        int u = (int)(w >> 8 & 255) - 128, v = (int)(w >> 24) - 128;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int c = 298 * ((int)(w >> 16 * h & 255) - 16) + 128;
            int r = c + 409 * v >> 8, g = c - 100 * u - 208 * v >> 8, b = c + 516 * u >> 8;
            made[2 * k + h] = min(max(r, 0), 255) | min(max(g, 0), 255) << 8 | min(max(b, 0), 255) << 16 | 0xff000000u;
        }
    }
    rgb[i] = make_uint4(made[0], made[1], made[2], made[3]);
}
