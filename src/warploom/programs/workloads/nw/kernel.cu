// Global alignment of two sequences by Needleman and Wunsch: score[i][j] is the best of a match after score[i-1][j-1] and a
// gap after either neighbour. A CTA of 16 threads fills a tile of 16 x 16 along its antidiagonals in shared memory; the host
// launches the antidiagonals of tiles one after the other, growing ones with `upper_left`, shrinking ones with
// `lower_right`.

#define TILE 16

__device__ __forceinline__ void fill(const int* similarity, int* scores, int pitch, int penalty, int tile_x, int tile_y)
{
    __shared__ int best[TILE + 1][TILE + 1];
    __shared__ int match[TILE][TILE];
    const int t = threadIdx.x;
    // The corner of the tile together with the row above it and the column left of it.
    const int corner = tile_y * TILE * pitch + tile_x * TILE;

    if (t == 0)
        best[0][0] = scores[corner];
#pragma unroll 1
    for (int row = 0; row < TILE; ++row)
        match[row][t] = similarity[corner + (row + 1) * pitch + t + 1];
    best[t + 1][0] = scores[corner + (t + 1) * pitch];
    best[0][t + 1] = scores[corner + t + 1];
    __syncthreads();

#pragma unroll 1
    for (int diagonal = 0; diagonal < 2 * TILE - 1; ++diagonal) {
        const int row = diagonal - t;
        if (row >= 0 && row < TILE)
            best[row + 1][t + 1] =
                max(best[row][t] + match[row][t], max(best[row + 1][t] - penalty, best[row][t + 1] - penalty));
        __syncthreads();
    }
#pragma unroll 1
    for (int row = 0; row < TILE; ++row)
        scores[corner + (row + 1) * pitch + t + 1] = best[row + 1][t + 1];
}

extern "C" __global__ void upper_left(const int* similarity, int* scores, int pitch, int penalty, int diagonal)
{
    fill(similarity, scores, pitch, penalty, blockIdx.x, diagonal - blockIdx.x);
}

extern "C" __global__ void lower_right(const int* similarity, int* scores, int pitch, int penalty, int diagonal, int tiles)
{
    const int tile_x = diagonal - tiles + 1 + blockIdx.x;
    fill(similarity, scores, pitch, penalty, tile_x, diagonal - tile_x);
}
