// ranks pulled along edges, eight lanes for each vertex, summed by a tile of cooperative groups
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void pagerank_pull(const int *start, const int *edge, const float *rank, float *out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 8, end = start[v + 1];
    float sum = 0;
    for (int k = start[v] + tile.thread_rank(); k < end; k += 8) sum += rank[edge[k]];
    for (int d = 4; d; d >>= 1) sum += tile.shfl_down(sum, d);
    if (tile.thread_rank() == 0) out[v] = 0.15f + 0.85f * sum;
}
