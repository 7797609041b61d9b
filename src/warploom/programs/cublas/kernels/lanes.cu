// Products of matrices without tensor cores: a tile per block in shared memory, twice, so that the next is read while one is multiplied;
// each thread has PER_ROW x PER_COLUMN results in registers, in groups of four neighbours. SCALAR is the type, NAME its name.
#include "product.h"

__device__ __forceinline__ SCALAR widened(SCALAR value) { return value; }
__device__ __forceinline__ void narrow(SCALAR value, SCALAR &into) { into = value; }
#include "finish.cuh"

#define DEPTH (64 / (int)sizeof(SCALAR))
#define GROUP 4

// What a thread brings of an operand's tile: pieces of four, along k or along the other side, whichever is contiguous.
template <int EXTENT, int THREADS> struct pieces {
    static const int COUNT = EXTENT * DEPTH / GROUP / THREADS;
    SCALAR kept[COUNT][GROUP];

    __device__ __forceinline__ static void place(int by_k, int which, int &side, int &k) {
        int piece = threadIdx.x + which * THREADS;
        side = by_k ? piece / (DEPTH / GROUP) : piece % (EXTENT / GROUP) * GROUP;
        k = by_k ? piece % (DEPTH / GROUP) * GROUP : piece / (EXTENT / GROUP);
    }

    __device__ __forceinline__ void fetch(const SCALAR *data, long long pitch, int by_k, int wide, int first, int extent, int from_k, int depth) {
#pragma unroll
        for (int which = 0; which < COUNT; which++) {
            int side, k;
            place(by_k, which, side, k);
            side += first;
            k += from_k;
            int left = by_k ? depth - k : extent - side;
            if (by_k ? side >= extent : k >= depth) left = 0;
            const SCALAR *at = by_k ? data + side * pitch + k : data + k * pitch + side;
            if (wide && left >= GROUP) {
#pragma unroll
                for (int part = 0; part < GROUP * (int)sizeof(SCALAR) / 16; part++)
                    *(float4 *)&kept[which][part * 16 / sizeof(SCALAR)] = ((const float4 *)at)[part];
            } else {
#pragma unroll
                for (int i = 0; i < GROUP; i++) kept[which][i] = i < left ? at[i] : (SCALAR)0;
            }
        }
    }

    __device__ __forceinline__ void store(SCALAR (*tile)[EXTENT + GROUP], int by_k) {
#pragma unroll
        for (int which = 0; which < COUNT; which++) {
            int side, k;
            place(by_k, which, side, k);
            if (by_k) {
#pragma unroll
                for (int i = 0; i < GROUP; i++) tile[k + i][side] = kept[which][i];
            } else {
#pragma unroll
                for (int i = 0; i < GROUP; i++) tile[k][side + i] = kept[which][i];
            }
        }
    }
};

template <int ROWS, int COLUMNS, int PER_ROW, int PER_COLUMN> __device__ __forceinline__ void multiply(const product &p) {
    const int ACROSS = COLUMNS / PER_COLUMN, THREADS = ROWS / PER_ROW * ACROSS;
    const int DOWN_STEP = ROWS * GROUP / PER_ROW, ACROSS_STEP = COLUMNS * GROUP / PER_COLUMN; // from one group of a thread to its next
    __shared__ __align__(16) SCALAR lefts[2][DEPTH][ROWS + GROUP], rights[2][DEPTH][COLUMNS + GROUP];
    const SCALAR *left = (const SCALAR *)of_batch(p.left, p.left_step, sizeof(SCALAR), p.listed);
    const SCALAR *right = (const SCALAR *)of_batch(p.right, p.right_step, sizeof(SCALAR), p.listed);
    int first_row = blockIdx.y * ROWS, first_column = blockIdx.x * COLUMNS;
    int down = threadIdx.x / ACROSS * GROUP, across = threadIdx.x % ACROSS * GROUP;
    SCALAR sums[PER_ROW][PER_COLUMN] = {};
    pieces<ROWS, THREADS> of_left;
    pieces<COLUMNS, THREADS> of_right;
    of_left.fetch(left, p.left_pitch, p.left_by_k, p.left_wide, first_row, p.rows, 0, p.depth);
    of_right.fetch(right, p.right_pitch, p.right_by_k, p.right_wide, first_column, p.columns, 0, p.depth);
    of_left.store(lefts[0], p.left_by_k);
    of_right.store(rights[0], p.right_by_k);
    __syncthreads();
    for (int from_k = 0, now = 0; from_k < p.depth; from_k += DEPTH, now ^= 1) {
        int next = from_k + DEPTH;
        if (next < p.depth) {
            of_left.fetch(left, p.left_pitch, p.left_by_k, p.left_wide, first_row, p.rows, next, p.depth);
            of_right.fetch(right, p.right_pitch, p.right_by_k, p.right_wide, first_column, p.columns, next, p.depth);
        }
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            SCALAR rows[PER_ROW], columns[PER_COLUMN];
#pragma unroll
            for (int i = 0; i < PER_ROW; i++) rows[i] = lefts[now][k][down + i / GROUP * DOWN_STEP + i % GROUP];
#pragma unroll
            for (int j = 0; j < PER_COLUMN; j++) columns[j] = rights[now][k][across + j / GROUP * ACROSS_STEP + j % GROUP];
#pragma unroll
            for (int i = 0; i < PER_ROW; i++)
#pragma unroll
                for (int j = 0; j < PER_COLUMN; j++) sums[i][j] += rows[i] * columns[j];
        }
        if (next < p.depth) {
            of_left.store(lefts[now ^ 1], p.left_by_k);
            of_right.store(rights[now ^ 1], p.right_by_k);
        }
        __syncthreads();
    }
    finish<SCALAR, SCALAR, SCALAR> last(p);
#pragma unroll
    for (int i = 0; i < PER_ROW; i++)
#pragma unroll
        for (int j = 0; j < PER_COLUMN; j += GROUP) {
            SCALAR group[GROUP] = {sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]};
            last.write(first_row + down + i / GROUP * DOWN_STEP + i % GROUP, first_column + across + j / GROUP * ACROSS_STEP, group);
        }
}

#define JOINED(one, other) one##other
#define KERNEL(name, tile, rows, columns, per_row, per_column)                                                                     \
    extern "C" __global__ void __launch_bounds__(rows / per_row * (columns / per_column)) JOINED(name, tile)(const __grid_constant__ product p) { \
        multiply<rows, columns, per_row, per_column>(p);                                                                          \
    }
KERNEL(NAME, _64x64, 64, 64, 8, 4)
KERNEL(NAME, _128x128, 128, 128, 8, 8)
