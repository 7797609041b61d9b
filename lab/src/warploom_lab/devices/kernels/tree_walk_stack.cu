// boxes of a binary tree that hold a point, depth first with a stack in local memory; the first levels always go on
extern "C" __global__ void tree_walk_stack(const float4 *box, const float2 *ray, int *hits, int nodes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, stack[32], top = 0, found = 0;
    float2 p = ray[i];
    stack[top++] = 0;
    while (top) {
        int node = stack[--top];
        float4 b = box[node];
        bool in = node < 15 || (p.x >= b.x && p.x <= b.z) || (p.y >= b.y && p.y <= b.w && node % 3 == 0);
        if (in) {
            if (2 * node + 2 < nodes) {
                stack[top++] = 2 * node + 2;
                stack[top++] = 2 * node + 1;
            } else {
                found++;
            }
        }
    }
    hits[i] = found;
}
