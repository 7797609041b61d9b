// Sparse matrix times vector in jagged diagonal storage: rows sorted by length, the n-th entries of all rows side by side. A
// thread owns a row, so matrix loads are coalesced while the vector is gathered from all over memory.

extern "C" __global__ void __launch_bounds__(192)
spmv_jds(const float* __restrict__ value, const int* __restrict__ column, const int* __restrict__ diagonal,
         const int* __restrict__ length, const int* __restrict__ row_of, const float* __restrict__ x, float* __restrict__ y,
         int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int entries = length[row];
    float sum = 0.0f;
    int entry = 0;
    // Four entries at a time, so that their gathers overlap.
    for (; entry + 4 <= entries; entry += 4) {
        int at[4];
        float factor[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            at[i] = diagonal[entry + i] + row;
#pragma unroll
        for (int i = 0; i < 4; i++)
            factor[i] = x[column[at[i]]];
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum += value[at[i]] * factor[i];
    }
#pragma unroll 1
    for (; entry < entries; entry++) {
        int at = diagonal[entry] + row;
        sum += value[at] * x[column[at]];
    }
    y[row_of[row]] = sum;
}
