// Kernels that show the texture unit. Textures hold zeros: a fetch that adds what another has found depends on it, and stays where it was.
// A lane l of a warp is at (l % across, l / across), all lanes at one place where `across` is 0.
typedef unsigned int u32;
typedef unsigned long long u64;
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")
#define PLACE                                                                        \
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;                            \
    float x = 0.5f + (across ? lane % across : 0), y = 0.5f + (across ? lane / across : 0); \
    u64 t0, t1;
#define DONE(VALUE)                                                                  \
    if (lane == 0) {                                                                 \
        u32* to = out + 2 * (blockIdx.x * (blockDim.x / 32) + warp);                 \
        to[0] = (u32)(t1 - t0);                                                      \
        to[1] = (u32)(VALUE);                                                        \
    }
#define FETCH_1D asm volatile("tex.1d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5}];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(texture), "f"(u))
#define FETCH_2D asm volatile("tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(texture), "f"(u), "f"(v))

// Each fetch needs the one before, at the same place: the unit's latency.
#define CHASE(NAME, FETCH, FOUND)                                                    \
    extern "C" __global__ void NAME(u32* out, u64 texture, u32 across, u32 steps) {  \
        PLACE                                                                        \
        float u = x, v = y, a, b, c, d;                                              \
        FETCH;                                                                       \
        u += a;                                                                      \
        CLOCK(t0);                                                                   \
        for (u32 i = 0; i < steps; i += 16) {                                        \
            _Pragma("unroll") for (int k = 0; k < 16; k++) { FETCH; u += FOUND; }    \
        }                                                                            \
        asm volatile("" ::"f"(u) : "memory");                                        \
        CLOCK(t1);                                                                   \
        DONE(u + v)                                                                  \
    }
CHASE(chase_1d, FETCH_1D, a)
CHASE(chase_2d, FETCH_2D, a)
CHASE(chase_2d_all, FETCH_2D, (a + b) + (c + d))

// The same over a square of `side` texels, every fourth in both directions.
extern "C" __global__ void chase_over(u32* out, u64 texture, u32 across, u32 steps, u32 side) {
    PLACE
    u32 at = 0, per = side / 4;
    float a = 0, b, c, d;
    for (u32 i = 0; i < per * per; i++) {
        float u = x + 4 * (i % per), v = y + 4 * (i / per);
        FETCH_2D;
        at += (u32)a;
    }
    CLOCK(t0);
    for (u32 i = 0; i < steps; i++) {
        float u = x + 4 * (at % per), v = y + 4 * (at / per);
        FETCH_2D;
        at = (at + 1 + (u32)a) & (per * per - 1);
    }
    CLOCK(t1);
    DONE(at)
}

// Fetches that need nothing, each warp in a window of 64 x 64 texels: the rate of the unit. They move to and fro, or they would be made
// once for all steps; with FOUND the results that are wanted.
#define FLOOD(NAME, FETCH, FOUND)                                                    \
    extern "C" __global__ void __launch_bounds__(1024) NAME(u32* out, u64 texture, u32 across, u32 steps) { \
        PLACE                                                                        \
        float sum = 0, to_and_fro = 1, a, b, c, d;                                   \
        for (u32 i = 0; i < 64; i++) { float u = x + (i & 31), v = y + i / 2; FETCH; sum += a; } \
        __syncthreads();                                                             \
        CLOCK(t0);                                                                   \
        _Pragma("unroll 1") for (u32 i = 0; i < steps; i += 8) {                     \
            _Pragma("unroll") for (int k = 0; k < 8; k++) {                          \
                float u = x + 2 * k, v = y + k;                                      \
                FETCH;                                                               \
                sum += FOUND;                                                        \
            }                                                                        \
            x += to_and_fro;                                                         \
            to_and_fro = -to_and_fro;                                                \
        }                                                                            \
        asm volatile("" ::"f"(sum) : "memory");                                      \
        CLOCK(t1);                                                                   \
        DONE(sum)                                                                    \
    }
FLOOD(flood_1d, FETCH_1D, a)
FLOOD(flood_2d, FETCH_2D, a)
FLOOD(flood_2d_all, FETCH_2D, a + b + c + d)

// Which texels come together: a fetch of the corner of a fresh square of 64 x 64, then a timed one at each of 32 x 32 places in it.
extern "C" __global__ void together(u32* out, u64 texture) {
    for (u32 i = 0; i < 1024; i++) {
        float u = 64 * (i % 32) + 0.5f, v = 64 * (i / 32) + 0.5f, a, b, c, d, sum = 0;
        u64 t0, t1;
        FETCH_2D;
        sum += a;
        u += i % 32 + sum;
        v += i / 32;
        asm volatile("" ::"f"(u), "f"(v) : "memory");
        CLOCK(t0);
        FETCH_2D;
        asm volatile("add.f32 %0, %0, %1;" : "+f"(sum) : "f"(a) : "memory");
        CLOCK(t1);
        out[i] = (u32)(t1 - t0) + (u32)sum;
    }
}
