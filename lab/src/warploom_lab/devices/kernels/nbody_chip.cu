// every body of 33,792 feels 512 others, tiles of 128 of them in shared memory
extern "C" __global__ void nbody_chip(const float4 *body, float4 *out, int n)
{
    __shared__ float4 s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 me = body[i];
    float ax = 0, ay = 0, az = 0;
    for (int j0 = 0; j0 < n; j0 += 128) {
        s[threadIdx.x] = body[(i + j0 * 33) % 33792];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 128; j++) {
            float4 o = s[j];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float pull = o.w * inverse * inverse * inverse;
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        __syncthreads();
    }
    out[i] = make_float4(ax, ay, az, me.w);
}
