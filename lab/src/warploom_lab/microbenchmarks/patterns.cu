// Accesses of a warp whose lanes lie where a table says, `places`, by the numbers of words: shared memory, and global memory that L1 holds.
// A lane whose place is GONE is not there. Those of global memory lie a line further each time, or ptxas would make one of them all.
typedef unsigned int u32;
typedef unsigned long long u64;
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")
#define WORDS 8192
#define GONE 0xFFFFFFFF
#define BEGIN                                                                        \
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;                            \
    u64 t0, t1;                                                                      \
    u32 a = places[lane], b = 0, c = 0, d = 0, sum = 0, further = 0;
#define STEPS(ACCESS)                                                                \
    __syncthreads();                                                                 \
    CLOCK(t0);                                                                       \
    _Pragma("unroll 1") for (u32 i = 0; i < steps; i += 16) {                        \
        _Pragma("unroll") for (int k = 0; k < 16; k++) { ACCESS; }                   \
        further = (further + 2048) % 4096;                                           \
    }                                                                                \
    asm volatile("" ::"r"(sum) : "memory");                                          \
    CLOCK(t1);                                                                       \
    if (lane == 0) {                                                                 \
        out[2 * warp] = (u32)(t1 - t0);                                              \
        out[2 * warp + 1] = sum;                                                     \
    }
#define SHARED(NAME, ACCESS)                                                         \
    extern "C" __global__ void NAME(u32* out, const u32* places, u32 steps) {        \
        __shared__ __align__(16) u32 words[WORDS];                                   \
        for (u32 i = threadIdx.x; i < WORDS; i += blockDim.x) words[i] = i;          \
        BEGIN                                                                        \
        if (a == GONE) return;                                                       \
        u32 at = (u32)__cvta_generic_to_shared(&words[a % WORDS]);                   \
        STEPS(ACCESS)                                                                \
    }
#define GLOBAL(NAME, ACCESS)                                                         \
    extern "C" __global__ void NAME(u32* out, const u32* places, u32 steps, const u32* p) { \
        BEGIN                                                                        \
        const char* at = (const char*)(p + a);                                       \
        STEPS(ACCESS)                                                                \
    }
#define ONE "=r"(a)
#define TWO "=r"(a), "=r"(b)
#define FOUR "=r"(a), "=r"(b), "=r"(c), "=r"(d)
SHARED(lds_32, asm volatile("ld.volatile.shared.u32 %0, [%1];" : ONE : "r"(at)); sum ^= a)
SHARED(lds_64, asm volatile("ld.volatile.shared.v2.u32 {%0,%1}, [%2];" : TWO : "r"(at)); sum ^= a ^ b)
SHARED(lds_128, asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : FOUR : "r"(at)); sum ^= a ^ b ^ c ^ d)
SHARED(sts_32, asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at), "r"(a) : "memory"))
SHARED(sts_64, asm volatile("st.volatile.shared.v2.u32 [%0], {%1,%2};" ::"r"(at), "r"(a), "r"(b) : "memory"))
SHARED(sts_128, asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(a), "r"(b), "r"(c), "r"(d) : "memory"))
GLOBAL(ldg_32, asm volatile("ld.global.u32 %0, [%1];" : ONE : "l"(at + further + 128 * k)); sum ^= a)
GLOBAL(ldg_64, asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : TWO : "l"(at + further + 128 * k)); sum ^= a ^ b)
GLOBAL(ldg_128, asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : FOUR : "l"(at + further + 128 * k)); sum ^= a ^ b ^ c ^ d)
