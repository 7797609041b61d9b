// Products of matrices of 16-bit numbers on tensor cores (mma.m16n8k16), added up in 32 bits. Tiles come into shared memory as they lie
// in memory, several stages ahead, and are turned when they are read (ldmatrix.trans). NAME is the kernels', BRAIN says which type.
#include "product.h"

#define DEPTH 64
#define PIECE 8 // numbers in 16 bytes
typedef unsigned short number;

#if BRAIN
#define TYPE "bf16"
#else
#define TYPE "f16"
#endif

__device__ __forceinline__ float widened(float value) { return value; }
__device__ __forceinline__ void narrow(float value, float &into) { into = value; }
__device__ __forceinline__ void narrow(float value, number &into) { asm("cvt.rn." TYPE ".f32 %0, %1;" : "=h"(into) : "f"(value)); }
__device__ __forceinline__ float widened(number value) {
#if BRAIN
    return __uint_as_float((unsigned)value << 16);
#else
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
    return result;
#endif
}

#include "finish.cuh"

__device__ __forceinline__ unsigned shared_address(const void *place) { return (unsigned)__cvta_generic_to_shared(place); }

// An operand's tile: rows of DEPTH numbers along k, or DEPTH rows along the other side. Pieces of 16 bytes change places within a row, so
// that those of neighbouring rows lie in different banks.
template <int EXTENT, bool BY_K> struct tile {
    static const int IN_ROW = (BY_K ? DEPTH : EXTENT) / PIECE;
    number data[EXTENT * DEPTH];

    __device__ __forceinline__ static int place(int row, int along) { return (row * IN_ROW + (along / PIECE ^ row % 8)) * PIECE; }

    // Four pieces of 8 x 8 numbers: of the left operand (ACROSS 0) beside each other along its side first, of the right along k first.
    template <int ACROSS> __device__ __forceinline__ void read(unsigned (&into)[4], int side, int k) const {
        int lane = threadIdx.x % 32, in = lane % 8, one = lane / 8 % 2 * 8, other = lane / 16 * 8;
        int by_side = ACROSS ? other : one, by_k = ACROSS ? one : other;
        const number *at = data + (BY_K ? place(side + by_side + in, k + by_k) : place(k + by_k + in, side + by_side));
        if (BY_K)
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(shared_address(at)));
        else
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(shared_address(at)));
    }
};

// What a thread brings of an operand, tile after tile: pieces of 16 bytes, whole ones or none where these can be read at once.
template <int EXTENT, bool BY_K, int THREADS> struct source {
    typedef tile<EXTENT, BY_K> target;
    static const int COUNT = EXTENT * DEPTH / PIECE / THREADS;
    const number *at[COUNT];
    int inside[COUNT]; // numbers of a piece that the matrix has, to its side
    long long step;

    __device__ __forceinline__ static int major(int which) { return (threadIdx.x + which * THREADS) / target::IN_ROW; }
    __device__ __forceinline__ static int minor(int which) { return (threadIdx.x + which * THREADS) % target::IN_ROW * PIECE; }

    __device__ __forceinline__ source(const number *from, long long pitch, int first, int extent) : step(BY_K ? DEPTH : DEPTH * pitch) {
#pragma unroll
        for (int which = 0; which < COUNT; which++) {
            int left = extent - first - (BY_K ? major(which) : minor(which));
            inside[which] = left <= 0 ? 0 : BY_K ? PIECE : min(left, PIECE);
            at[which] = from + (major(which) + (BY_K ? first : 0)) * pitch + minor(which) + (BY_K ? 0 : first);
        }
    }

    __device__ __forceinline__ void fetch(target &to, int left_of_k, int wide) {
#pragma unroll
        for (int which = 0; which < COUNT; which++, at[which - 1] += step) {
            number *place = to.data + target::place(major(which), minor(which));
            int in_k = left_of_k - (BY_K ? minor(which) : major(which));
            if (wide) {
                int bytes = in_k > 0 && inside[which] ? 16 : 0;
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(place)), "l"(at[which]), "r"(bytes) : "memory");
            } else {
                int count = BY_K ? (inside[which] ? in_k : 0) : (in_k > 0 ? inside[which] : 0);
#pragma unroll 1
                for (int i = 0; i < PIECE; i++) place[i] = i < count ? at[which][i] : (number)0;
            }
        }
    }
};

__device__ __forceinline__ void multiply_add(float (&sums)[4], const unsigned (&left)[4], unsigned right, unsigned more) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right), "r"(more));
}

// A slab of results goes through shared memory, from where whole rows are written.
template <int COLUMNS, int SLAB, int THREADS, typename OUT>
__device__ __forceinline__ void write(const finish<OUT, number, float> &last, const float (*slab)[COLUMNS + 8], int first_row, int apart, int first_column) {
#pragma unroll 1
    for (int piece = threadIdx.x; piece < 2 * SLAB * COLUMNS / 4; piece += THREADS) {
        int row = piece / (COLUMNS / 4), column = piece % (COLUMNS / 4) * 4;
        float4 found = *(const float4 *)&slab[row][column];
        float sums[4] = {found.x, found.y, found.z, found.w};
        last.write(first_row + row / SLAB * apart + row % SLAB, first_column + column, sums);
    }
}

template <int ROWS, int COLUMNS, int ACROSS, int STAGES, bool LEFT_BY_K, bool RIGHT_BY_K>
__device__ __forceinline__ void multiply(const product &p) {
    const int DOWN = 2, THREADS = DOWN * ACROSS * 32, SLAB = 32, TALL = ROWS / DOWN / 16, BROAD = COLUMNS / ACROSS / 8;
    struct stages {
        tile<ROWS, LEFT_BY_K> lefts[STAGES];
        tile<COLUMNS, RIGHT_BY_K> rights[STAGES];
    };
    union room {
        stages tiles;
        float slab[DOWN * SLAB][COLUMNS + 8];
    };
    extern __shared__ __align__(16) char shared[];
    auto &lefts = ((room *)shared)->tiles.lefts;
    auto &rights = ((room *)shared)->tiles.rights;
    const number *left = (const number *)of_batch(p.left, p.left_step, sizeof(number), p.listed);
    const number *right = (const number *)of_batch(p.right, p.right_step, sizeof(number), p.listed);
    int first_row = blockIdx.y * ROWS, first_column = blockIdx.x * COLUMNS, warp = threadIdx.x / 32;
    int down = warp / ACROSS * TALL * 16, across = warp % ACROSS * BROAD * 8;
    float sums[TALL][BROAD][4] = {};
    int steps = (p.depth + DEPTH - 1) / DEPTH;
    source<ROWS, LEFT_BY_K, THREADS> from_left(left, p.left_pitch, first_row, p.rows);
    source<COLUMNS, RIGHT_BY_K, THREADS> from_right(right, p.right_pitch, first_column, p.columns);
    auto fetch = [&](int step) {
        if (step < steps) {
            from_left.fetch(lefts[step % STAGES], p.depth - step * DEPTH, p.left_wide);
            from_right.fetch(rights[step % STAGES], p.depth - step * DEPTH, p.right_wide);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
#pragma unroll 1
    for (int step = 0; step < STAGES - 1; step++) fetch(step);
    for (int step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        fetch(step + STAGES - 1);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned of_left[TALL][4], of_right[BROAD / 2][4];
#pragma unroll
            for (int i = 0; i < TALL; i++) lefts[step % STAGES].template read<0>(of_left[i], down + i * 16, k);
#pragma unroll
            for (int j = 0; j < BROAD / 2; j++) rights[step % STAGES].template read<1>(of_right[j], across + j * 16, k);
#pragma unroll
            for (int i = 0; i < TALL; i++)
#pragma unroll
                for (int j = 0; j < BROAD; j++) multiply_add(sums[i][j], of_left[i], of_right[j / 2][j % 2 * 2], of_right[j / 2][j % 2 * 2 + 1]);
        }
    }
    auto &slab = ((room *)shared)->slab;
    int group = threadIdx.x % 32 / 4 + warp / ACROSS * SLAB, pair = threadIdx.x % 4 * 2;
#pragma unroll
    for (int from = 0; from < TALL * 16; from += SLAB) {
        __syncthreads();
#pragma unroll
        for (int part = 0; part < SLAB / 8; part++)
#pragma unroll
            for (int j = 0; j < BROAD; j++) {
                const float *sum = &sums[from / 16 + part / 2][j][part % 2 * 2];
                *(float2 *)&slab[group + part * 8][across + j * 8 + pair] = make_float2(sum[0], sum[1]);
            }
        __syncthreads();
        int row = first_row + from;
        if (p.single_out) write<COLUMNS, SLAB, THREADS>(finish<float, number, float>(p), slab, row, TALL * 16, first_column);
        else write<COLUMNS, SLAB, THREADS>(finish<number, number, float>(p), slab, row, TALL * 16, first_column);
    }
}

#define JOINED(one, other) one##other
#define KERNEL(name, form, rows, columns, across, stages, left_by_k, right_by_k)                                             \
    extern "C" __global__ void __launch_bounds__(2 * across * 32) JOINED(name, form)(const __grid_constant__ product p) {      \
        multiply<rows, columns, across, stages, left_by_k, right_by_k>(p);                                                  \
    }
KERNEL(NAME, _64x64_nn, 64, 64, 2, 4, false, false)
KERNEL(NAME, _64x64_nt, 64, 64, 2, 4, false, true)
KERNEL(NAME, _64x64_tn, 64, 64, 2, 4, true, false)
KERNEL(NAME, _64x64_tt, 64, 64, 2, 4, true, true)
KERNEL(NAME, _128x128_nn, 128, 128, 4, 3, false, false)
KERNEL(NAME, _128x128_nt, 128, 128, 4, 3, false, true)
KERNEL(NAME, _128x128_tn, 128, 128, 4, 3, true, false)
KERNEL(NAME, _128x128_tt, 128, 128, 4, 3, true, true)
