// each row of 768 numbers to mean zero and variance one, two numbers in six registers for each thread
extern "C" __global__ void layernorm_rows(const float2 *in, const float2 *gain, const float2 *shift, float2 *out)
{
    __shared__ float part[2][4];
    int t = threadIdx.x;
    float2 v[3];
    float sum = 0, square = 0;
    for (int k = 0; k < 3; k++) {
        v[k] = in[blockIdx.x * 384 + k * 128 + t];
        sum += v[k].x + v[k].y;
        square += v[k].x * v[k].x + v[k].y * v[k].y;
    }
    for (int d = 16; d; d >>= 1) {
        sum += __shfl_xor_sync(~0u, sum, d);
        square += __shfl_xor_sync(~0u, square, d);
    }
    if (t % 32 == 0) {
        part[0][t / 32] = sum;
        part[1][t / 32] = square;
    }
    __syncthreads();
    float mean = (part[0][0] + part[0][1] + part[0][2] + part[0][3]) / 768;
    float scale = rsqrtf((part[1][0] + part[1][1] + part[1][2] + part[1][3]) / 768 - mean * mean + 1e-5f);
    for (int k = 0; k < 3; k++) {
        float2 g = gain[k * 128 + t], s = shift[k * 128 + t];
        out[blockIdx.x * 384 + k * 128 + t] = make_float2((v[k].x - mean) * scale * g.x + s.x, (v[k].y - mean) * scale * g.y + s.y);
    }
}
