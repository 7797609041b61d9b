// sums that begin anew at every head of a segment, within tiles of 32 that a warp walks four of
extern "C" __global__ void segmented_scan(const float *value, const unsigned char *head, float *out)
{
    int lane = threadIdx.x % 32, base = (blockIdx.x * 8 + threadIdx.x / 32) * 128;
    float carry = 0;
    for (int k = 0; k < 4; k++) {
        int i = base + k * 32 + lane;
        float sum = value[i];
        unsigned heads = __ballot_sync(~0u, head[i]), below = heads & (~0u >> (31 - lane));
        int first = below ? 31 - __clz(below) : 0;
        for (int d = 1; d < 32; d *= 2) {
            float other = __shfl_up_sync(~0u, sum, d);
            if (lane - d >= first) sum += other;
        }
        if (!below) sum += carry;
        out[i] = sum;
        carry = __shfl_sync(~0u, sum, 31);
    }
}
