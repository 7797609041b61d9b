// connected components: both ends of every edge climb to their roots, the larger root is hooked on the smaller
extern "C" __global__ void components_hook(const int *from, const int *to, const int *parent, int *out)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x, a = from[e], b = to[e];
    for (int up = parent[a]; up != a; up = parent[a]) a = up;
    for (int up = parent[b]; up != b; up = parent[b]) b = up;
    if (a != b) atomicMin(&out[max(a, b)], min(a, b));
}
