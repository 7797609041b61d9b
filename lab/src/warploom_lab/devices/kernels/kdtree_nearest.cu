// the nearest point in a tree that is stored level by level and divided along x: near side first, the far one only where it can help
extern "C" __global__ void kdtree_nearest(const float2 *tree, const float2 *query, int *out, int nodes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0, node = 0, last = -1;
    float2 q = query[i];
    float nearest = 1e30f;
    while (node >= 0) {
        float2 p = tree[node];
        int near = 2 * node + (q.x < p.x ? 1 : 2), far = 4 * node + 3 - near, up = node ? (node - 1) / 2 : -1;
        float dx = q.x - p.x, dy = q.y - p.y;
        if (last == up) {
            float d = dx * dx + dy * dy;
            if (d < nearest) {
                nearest = d;
                best = node;
            }
        }
        int next = up;
        if (near < nodes) {
            if (last == up) next = near;
            else if (last == near && dx * dx < nearest) next = far;
        }
        last = node;
        node = next;
    }
    out[i] = best;
}
