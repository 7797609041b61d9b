// twelve bytes of each thread become sixteen letters, looked up in a constant table
__constant__ unsigned char letter[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
extern "C" __global__ void base64_text(const unsigned *in, uint4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned w[3], made[4];
    for (int k = 0; k < 3; k++) w[k] = in[i * 3 + k];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int b = k * 3;
        unsigned x = w[b / 4] >> b % 4 * 8 & 255, y = w[(b + 1) / 4] >> (b + 1) % 4 * 8 & 255, z = w[(b + 2) / 4] >> (b + 2) % 4 * 8 & 255;
        unsigned bits = x << 16 | y << 8 | z;
        made[k] = letter[bits >> 18] | letter[bits >> 12 & 63] << 8 | letter[bits >> 6 & 63] << 16 | letter[bits & 63] << 24;
    }
    out[i] = make_uint4(made[0], made[1], made[2], made[3]);
}
