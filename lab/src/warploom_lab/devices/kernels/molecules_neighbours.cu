// forces between atoms from lists of 40 neighbours that are stored by columns; those beyond the cutoff are skipped
extern "C" __global__ void molecules_neighbours(const float4 *place, const int *neighbour, float4 *force, int count, int each)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = place[i], f = make_float4(0, 0, 0, 0);
    for (int k = 0; k < each; k++) {
        float4 q = place[neighbour[k * count + i]];
        float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z, r2 = dx * dx + dy * dy + dz * dz + 0.01f;
        if (r2 < 30.0f) {
            float inverse = 1.0f / r2, r6 = inverse * inverse * inverse, push = r6 * (48.0f * r6 - 24.0f) * inverse;
            f.x += dx * push;
            f.y += dy * push;
            f.z += dz * push;
            f.w += r6 * (r6 - 1.0f);
        }
    }
    force[i] = f;
}
