// 3 x 3 patches of 16 channels of 56 x 56 as the columns of a matrix; indices by division
extern "C" __global__ void image_to_columns(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int place = i % 3136, row = i / 3136, c = row / 9, k = row % 9;
    int y = place / 56 + k / 3 - 1, x = place % 56 + k % 3 - 1;
    out[i] = y >= 0 && y < 56 && x >= 0 && x < 56 ? in[c * 3136 + y * 56 + x] : 0.0f;
}
