// local alignment, a text for each warp: a lane for each letter of the query, the diagonal moves by shuffles
extern "C" __global__ void smith_waterman_lanes(const unsigned char *query, const unsigned char *text, int *best, int length)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, letter = query[lane];
    const unsigned char *mine = text + warp * length;
    int here = 0, above = 0, corner = 0, gap = 0, most = 0;
    for (int k = 0; k < length + 31; k++) {
        int up = __shfl_up_sync(~0u, here, 1), gap_up = __shfl_up_sync(~0u, gap, 1), j = k - lane;
        if (lane == 0) up = gap_up = 0;
        corner = above;
        above = up;
        if (j >= 0 && j < length) {
            int match = corner + (mine[j] == letter ? 5 : -3);
            gap = max(max(gap, gap_up) - 1, here - 4);
            here = max(max(0, match), max(gap, up - 4));
            most = max(most, here);
        }
    }
    most = __reduce_max_sync(~0u, most);
    if (lane == 0) best[warp] = most;
}
