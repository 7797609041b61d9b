// sums by sorted keys: runs within four values of a thread are joined, then go out by atomics
extern "C" __global__ void segment_sums(const int4 *key, const float4 *value, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 k = key[i];
    float4 v = value[i];
    int keys[4] = {k.x, k.y, k.z, k.w};
    float values[4] = {v.x, v.y, v.z, v.w}, sum = values[0];
#pragma unroll
    for (int j = 1; j < 4; j++) {
        if (keys[j] != keys[j - 1]) {
            atomicAdd(&out[keys[j - 1]], sum);
            sum = 0;
        }
        sum += values[j];
    }
    atomicAdd(&out[keys[3]], sum);
}
