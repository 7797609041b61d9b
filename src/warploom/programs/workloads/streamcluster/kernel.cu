// The inner step of clustering a stream of points: what would be gained if the candidate became a centre? Each thread has
// one point, computes its weighted distance to the candidate (whose coordinates lie in shared memory, the points' coordinate
// by coordinate), and notes either the gain from switching, or what its present centre would lose if it closed. A row of
// `shares` has one entry a centre and one for the candidate.

#define THREADS 512

extern "C" __global__ void gains(const float* coordinates, const float* weights, const float* costs, const int* slots,
                                 unsigned char* switches, float* shares, int points, int dimensions, int candidate,
                                 int centres)
{
    extern __shared__ float target[];
    for (int d = threadIdx.x; d < dimensions; d += THREADS)
        target[d] = coordinates[d * points + candidate];
    __syncthreads();

    const int point = blockIdx.x * THREADS + threadIdx.x;
    if (point >= points)
        return;
    float distance = 0.0f;
#pragma unroll 1
    for (int d = 0; d < dimensions; ++d) {
        const float difference = coordinates[d * points + point] - target[d];
        distance += difference * difference;
    }
    const float saving = distance * weights[point] - costs[point];
    float* const row = shares + point * (centres + 1);
    if (saving < 0.0f) {
        switches[point] = 1;
        row[centres] += saving;
    } else {
        row[slots[point]] -= saving;
    }
}
