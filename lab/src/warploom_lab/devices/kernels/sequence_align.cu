// anti-diagonals of a table of scores in shared memory, one step a barrier
extern "C" __global__ void sequence_align(const int *a, const int *b, int *out)
{
    __shared__ int row[3][129], left[128];
    int t = threadIdx.x;
    left[t] = a[blockIdx.x * 128 + t];
    for (int k = 0; k < 3; k++) row[k][t + 1] = 0;
    if (t < 3) row[t][0] = 0;
    __syncthreads();
    int best = 0;
    for (int d = 0; d < 255; d++) {
        int j = d - t, now = d % 3, last = (d + 2) % 3, before = (d + 1) % 3;
        if (j >= 0 && j < 128) {
            int match = row[before][t] + (left[t] == b[j] ? 2 : -1);
            int score = max(max(match, 0), max(row[last][t], row[last][t + 1]) - 1);
            row[now][t + 1] = score;
            best = max(best, score);
        }
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = best;
}
