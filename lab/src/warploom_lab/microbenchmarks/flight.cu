// How much an SM has under way: bursts of accesses out of idleness, and stores without end.
typedef unsigned int u32;
typedef unsigned long long u64;
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")

// COUNT accesses of each warp, `each` bytes from one to the next and `apart` bytes between lanes. The first round, in the next megabyte,
// brings code and the page. With `warm` the second finds its lines in L2. Clocks: before the first access, when the last one is
// issued, and when all have come.
#define BURST(NAME, COUNT, ACCESS, AWAIT)                                            \
    extern "C" __global__ void NAME(u32* out, char* p, u32 offset, u32 each, u32 apart, u32 warm) { \
        u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = 0;               \
        u64 begins, issued, ends;                                                    \
        char* first = p + ((u64)offset << 20) + warp * COUNT * each + lane * apart;  \
        if (warm)                                                                    \
            for (u32 k = 0; k < COUNT; k++) {                                        \
                u32 a;                                                               \
                asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(a) : "l"(first + k * each)); \
                sum += a;                                                            \
            }                                                                        \
        _Pragma("unroll 1") for (u32 round = 0; round < 2; round++) {                \
            char* at = first + (round ? 0 : 1 << 20);                                \
            u32 a[COUNT] = {};                                                       \
            if (__syncthreads_or(sum == 0x12345678)) sum++;                          \
            CLOCK(begins);                                                           \
            _Pragma("unroll") for (int k = 0; k < COUNT; k++) { ACCESS; at += each; } \
            CLOCK(issued);                                                           \
            AWAIT;                                                                   \
            _Pragma("unroll") for (int k = 0; k < COUNT; k++) sum += a[k];           \
            asm volatile("" ::"r"(sum) : "memory");                                  \
            if (__syncthreads_or(sum == 0x12345678)) sum++;                          \
            CLOCK(ends);                                                             \
        }                                                                            \
        if (lane == 0) {                                                             \
            u32* to = out + 4 * warp;                                                \
            to[0] = (u32)begins, to[1] = (u32)issued, to[2] = (u32)ends, to[3] = sum; \
        }                                                                            \
    }
#define LOADED asm volatile("ld.global.u32 %0, [%1];" : "=r"(a[k]) : "l"(at))
#define ADDED asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(a[k]) : "l"(at) : "memory")
#define REDUCED asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory")
#define STORED asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(lane) : "memory")
BURST(load_1, 1, LOADED, )
BURST(load_8, 8, LOADED, )
BURST(load_32, 32, LOADED, )
BURST(atom_8, 8, ADDED, )
BURST(red_8, 8, REDUCED, __threadfence())
BURST(red_32, 32, REDUCED, __threadfence())
BURST(store_8, 8, STORED, __threadfence())
BURST(store_32, 32, STORED, __threadfence())

// Stores without end: each PARTS of them to other lines than those before, around in `mask` + 1 bytes, `apart` bytes between lanes.
#define STORES(NAME, PARTS, STORE)                                                          \
    extern "C" __global__ void NAME(u32* out, char* p, u32 mask, u32 apart, u32 lanes, u32 steps) { \
        u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, zero = 0; \
        u32 at = warp * apart * 32 + lane * apart, step = gridDim.x * blockDim.x * apart; \
        u64 t0, t1;                                                                  \
        __syncthreads();                                                             \
        CLOCK(t0);                                                                   \
        if (lane < lanes)                                                            \
            _Pragma("unroll 1") for (u32 i = 0; i < steps; i += 8) {                 \
                _Pragma("unroll") for (int k = 0; k < 8; k++) { STORE; if (k % PARTS == PARTS - 1) at += step; } \
            }                                                                        \
        __syncwarp();                                                                \
        CLOCK(t1);                                                                   \
        if (lane == 0) {                                                             \
            out[2 * warp] = (u32)(t1 - t0);                                          \
            out[2 * warp + 1] = at + zero;                                           \
        }                                                                            \
    }
STORES(stores_1, 1, asm volatile("st.global.u32 [%0], %1;" ::"l"(p + (at & mask)), "r"(lane) : "memory"))
STORES(stores_2, 1, asm volatile("st.global.v2.u32 [%0], {%1,%2};" ::"l"(p + (at & mask)), "r"(lane), "r"(zero) : "memory"))
STORES(stores_4, 1, asm volatile("st.global.v4.u32 [%0], {%1,%2,%2,%2};" ::"l"(p + (at & mask)), "r"(lane), "r"(zero) : "memory"))
STORES(stores_volatile, 1, asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(p + (at & mask)), "r"(lane) : "memory"))
// The words of a structure one after the other, and one word again and again.
STORES(stores_members, 4, asm volatile("st.global.u32 [%0], %1;" ::"l"(p + (at & mask) + 4 * (k % 4)), "r"(lane) : "memory"))
STORES(stores_again, 4, asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(p + (at & mask)), "r"(lane) : "memory"))
