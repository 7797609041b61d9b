// sums of 16 rows of a table of 61,440 rows of 128, rows by index, a bag for each warp
extern "C" __global__ void embedding_bags(const int *index, const float4 *table, float4 *out)
{
    int bag = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 16; k++) {
        float4 v = table[index[bag * 16 + k] * 32 + lane];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
    }
    out[bag * 32 + lane] = sum;
}
