// ranks pushed along edges by atomics, a vertex for each thread
extern "C" __global__ void pagerank_push(const int *start, const int *edge, const float *rank, float *out)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x, begin = start[v], end = start[v + 1];
    if (begin == end) return;
    float share = 0.85f * rank[v] / (end - begin);
    for (int k = begin; k < end; k++) atomicAdd(&out[edge[k]], share);
}
