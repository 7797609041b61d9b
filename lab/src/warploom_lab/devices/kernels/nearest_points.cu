// distances of every query to 1,024 points, the least by comparison
extern "C" __global__ void nearest_points(const float4 *points, const float4 *queries, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = -1;
    float4 q = queries[i];
    float least = 1e30f;
    for (int j = 0; j < n; j++) {
        float4 p = points[j];
        float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z, dw = p.w - q.w, d = dx * dx + dy * dy + dz * dz + dw * dw;
        if (d < least) { least = d; best = j; }
    }
    out[i] = best;
}
