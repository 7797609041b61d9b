// Sobel's gradient of an image of bytes, four places in a row for each thread, rows of 1028 bytes
extern "C" __global__ void sobel_bytes(const unsigned char *in, uchar4 *out)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    for (int y = blockIdx.y * 4; y < blockIdx.y * 4 + 4; y++) {
        int p[3][6];
#pragma unroll
        for (int r = 0; r < 3; r++) {
            const unsigned char *row = in + (y + r) * 1028 + x;
            uchar4 v = *(const uchar4 *)row;
            p[r][0] = v.x;
            p[r][1] = v.y;
            p[r][2] = v.z;
            p[r][3] = v.w;
            p[r][4] = row[4];
            p[r][5] = row[5];
        }
        unsigned char made[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int gx = p[0][i + 2] + 2 * p[1][i + 2] + p[2][i + 2] - p[0][i] - 2 * p[1][i] - p[2][i];
            int gy = p[2][i] + 2 * p[2][i + 1] + p[2][i + 2] - p[0][i] - 2 * p[0][i + 1] - p[0][i + 2];
            made[i] = min(255, abs(gx) + abs(gy));
        }
        out[(y * 1024 + x) / 4] = make_uchar4(made[0], made[1], made[2], made[3]);
    }
}
