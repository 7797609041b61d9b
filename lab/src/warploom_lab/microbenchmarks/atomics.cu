// Atomics of many lanes on few words. Lanes beyond `lanes` do nothing.
typedef unsigned int u32;
typedef unsigned long long u64;
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")
#define TIMED(PLACE, NEXT, ...)                                                      \
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, found = 1; \
    u32 at = PLACE;                                                                  \
    u64 t0, t1;                                                                      \
    __syncthreads();                                                                 \
    CLOCK(t0);                                                                       \
    if (lane < lanes)                                                                \
        _Pragma("unroll 1") for (u32 i = 0; i < steps; i += 8) {                     \
            _Pragma("unroll") for (int k = 0; k < 8; k++) { __VA_ARGS__; NEXT; }     \
        }                                                                            \
    __syncwarp();                                                                    \
    asm volatile("" ::"r"(found) : "memory");                                        \
    CLOCK(t1);                                                                       \
    if (lane == 0) {                                                                 \
        out[2 * (thread / 32)] = (u32)(t1 - t0);                                     \
        out[2 * (thread / 32) + 1] = found;                                          \
    }

// Every lane somewhere else each time, among `mask` + 1 elements.
#define AT_RANDOM(NAME, TYPE, ACCESS)                                                \
    extern "C" __global__ void NAME(u32* out, TYPE* p, u32 mask, u32 lanes, u32 steps) { \
        TIMED(thread * 2654435761u, at = at * 1664525u + 1013904223u, TYPE* to = p + (at >> 7 & mask); ACCESS) \
    }
// Every lane at its place, `apart` elements from the next; warps and CTAs so many elements from each other.
#define IN_PLACE(NAME, TYPE, ACCESS)                                                 \
    extern "C" __global__ void NAME(u32* out, TYPE* p, u32 apart, u32 warps_apart, u32 ctas_apart, u32 lanes, u32 steps) { \
        TIMED(lane * apart + threadIdx.x / 32 * warps_apart + blockIdx.x * ctas_apart, , TYPE* to = p + at; ACCESS) \
    }
#define RED asm volatile("red.global.add.u32 [%0], 1;" ::"l"(to) : "memory")
#define RED_64 asm volatile("red.global.add.u64 [%0], 1;" ::"l"(to) : "memory")
#define RED_FLOAT asm volatile("red.global.add.f32 [%0], %1;" ::"l"(to), "f"(1.0f) : "memory")
#define MAX_64 asm volatile("red.global.max.u64 [%0], %1;" ::"l"(to), "l"((u64)at) : "memory")
#define ATOM { u32 a; asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(a) : "l"(to) : "memory"); found += a; }
#define ATOM_64 { u64 a; asm volatile("atom.global.add.u64 %0, [%1], 1;" : "=l"(a) : "l"(to) : "memory"); found += (u32)a; }
#define CAS { u32 a; asm volatile("atom.global.cas.b32 %0, [%1], 0, 0;" : "=r"(a) : "l"(to) : "memory"); found += a; }
#define CAS_64 { u64 a; asm volatile("atom.global.cas.b64 %0, [%1], %2, %2;" : "=l"(a) : "l"(to), "l"(0ull) : "memory"); found += (u32)a; }
#define SWAP { u32 a; asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(a) : "l"(to), "r"(lane) : "memory"); found += a; }
AT_RANDOM(random_red, u32, RED)
AT_RANDOM(random_red_64, u64, RED_64)
AT_RANDOM(random_red_float, u32, RED_FLOAT)
AT_RANDOM(random_max_64, u64, MAX_64)
AT_RANDOM(random_atom, u32, ATOM)
AT_RANDOM(random_atom_64, u64, ATOM_64)
AT_RANDOM(random_cas, u32, CAS)
AT_RANDOM(random_cas_64, u64, CAS_64)
AT_RANDOM(random_swap, u32, SWAP)
IN_PLACE(placed_red, u32, RED)
IN_PLACE(placed_red_64, u64, RED_64)
IN_PLACE(placed_red_float, u32, RED_FLOAT)
IN_PLACE(placed_atom, u32, ATOM)
IN_PLACE(placed_cas, u32, CAS)
IN_PLACE(placed_cas_64, u64, CAS_64)

// Sums by a loop of compare and swap, as a program has them; the loop ends, for a lane of the warp always succeeds.
extern "C" __global__ void random_sum(u32* out, u64* p, u32 mask, u32 lanes, u32 steps) {
    TIMED(thread * 2654435761u, at = at * 1664525u + 1013904223u, {
        u64 *to = p + (at >> 7 & mask), old = *to, seen;
        do {
            seen = old;
            old = atomicCAS(to, seen, seen + 1);
        } while (old != seen);
        found += (u32)old;
    })
}
