// Constants by an index that differs between lanes, where a table says, `places`, in units of the access's width: each load needs the
// one before, and as the constants are all zero, lanes stay where they were.
typedef unsigned int u32;
typedef unsigned char u8;
typedef unsigned long long u64;
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")
__constant__ u32 words[4096];
__constant__ u64 pairs[64];
__constant__ u8 bytes[256];
#define CHASE(NAME, LOADED)                                                          \
    extern "C" __global__ void NAME(u32* out, const u32* places, u32 steps) {        \
        u32 at = places[threadIdx.x % 32];                                           \
        u64 t0, t1;                                                                  \
        for (u32 i = 0; i < 16; i++) at += LOADED;                                   \
        __syncthreads();                                                             \
        CLOCK(t0);                                                                   \
        _Pragma("unroll 1") for (u32 i = 0; i < steps; i += 16) {                    \
            _Pragma("unroll") for (int k = 0; k < 16; k++) at += LOADED;             \
        }                                                                            \
        asm volatile("" ::"r"(at) : "memory");                                       \
        CLOCK(t1);                                                                   \
        if (threadIdx.x % 32 == 0) {                                                 \
            out[2 * (threadIdx.x / 32)] = (u32)(t1 - t0);                            \
            out[2 * (threadIdx.x / 32) + 1] = at;                                    \
        }                                                                            \
    }
CHASE(chase_words, words[at])
CHASE(chase_pairs, (u32)pairs[at] + (u32)(pairs[at] >> 32))
CHASE(chase_bytes, bytes[at])
