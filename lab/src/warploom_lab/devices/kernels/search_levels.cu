// binary search in a table that is stored level by level
extern "C" __global__ void search_levels(const int *tree, const int *keys, int *out, int nodes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i], at = 0;
    while (at < nodes) at = 2 * at + 1 + (key > tree[at]);
    out[i] = at - nodes;
}
