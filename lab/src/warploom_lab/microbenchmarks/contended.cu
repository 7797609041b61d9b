// Every kind of atomic operation on contended words, in shared and in global memory, with its result used and without.
#include <cuda_fp16.h>
typedef unsigned int u32;
typedef unsigned long long u64;
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")
#define LOOP(ACCESS)                                                                 \
    u64 t0, t1;                                                                      \
    __syncthreads();                                                                 \
    CLOCK(t0);                                                                       \
    _Pragma("unroll 1") for (u32 i = 0; i < steps; i += 4) {                         \
        _Pragma("unroll") for (int k = 0; k < 4; k++) { ACCESS; }                    \
    }                                                                                \
    __syncwarp();                                                                    \
    asm volatile("" ::"r"(found) : "memory");                                        \
    CLOCK(t1);                                                                       \
    if (lane == 0) {                                                                 \
        out[2 * (thread / 32)] = (u32)(t1 - t0);                                     \
        out[2 * (thread / 32) + 1] = found;                                          \
    }
// Lanes `apart` elements from each other: 0 is all on one element, 1 in a row.
#define KERNELS(NAME, TYPE, USED, UNUSED)                                            \
    extern "C" __global__ void global_##NAME(u32* out, TYPE* p, u32 apart, u32 steps) { \
        u32 thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, found = lane; \
        TYPE* to = p + lane * apart;                                                 \
        LOOP(UNUSED)                                                                 \
    }                                                                                \
    extern "C" __global__ void global_##NAME##_result(u32* out, TYPE* p, u32 apart, u32 steps) { \
        u32 thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, found = lane; \
        TYPE* to = p + lane * apart;                                                 \
        LOOP(found += (u32)(USED))                                                   \
    }                                                                                \
    extern "C" __global__ void shared_##NAME(u32* out, TYPE* p, u32 apart, u32 steps) { \
        __shared__ TYPE words[32];                                                   \
        u32 thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, found = lane; \
        TYPE* to = words + lane * apart;                                             \
        if (threadIdx.x < 32) words[threadIdx.x] = p[threadIdx.x];                   \
        LOOP(UNUSED)                                                                 \
        if (found == ~0u) p[lane] = words[lane];                                     \
    }                                                                                \
    extern "C" __global__ void shared_##NAME##_result(u32* out, TYPE* p, u32 apart, u32 steps) { \
        __shared__ TYPE words[32];                                                   \
        u32 thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, found = lane; \
        TYPE* to = words + lane * apart;                                             \
        if (threadIdx.x < 32) words[threadIdx.x] = p[threadIdx.x];                   \
        LOOP(found += (u32)(USED))                                                   \
        if (found == ~0u) p[lane] = words[lane];                                     \
    }
#define ALIKE(NAME, TYPE, ACCESS) KERNELS(NAME, TYPE, ACCESS, ACCESS)
ALIKE(add, u32, atomicAdd(to, 1u + i))
ALIKE(max, u32, atomicMax(to, i ^ lane))
ALIKE(min, int, atomicMin(to, (int)(i ^ lane)))
ALIKE(and, u32, atomicAnd(to, ~i))
ALIKE(or, u32, atomicOr(to, i + lane))
ALIKE(xor, u32, atomicXor(to, i + lane))
ALIKE(exch, u32, atomicExch(to, i + lane))
ALIKE(inc, u32, atomicInc(to, 1000u + i))
ALIKE(dec, u32, atomicDec(to, 1000u + i))
ALIKE(cas, u32, atomicCAS(to, i, i + 1))
ALIKE(add_64, u64, atomicAdd(to, (u64)i))
ALIKE(max_64, u64, atomicMax(to, (u64)i))
ALIKE(exch_64, u64, atomicExch(to, (u64)i))
ALIKE(cas_64, u64, atomicCAS(to, (u64)i, (u64)i + 1))
ALIKE(add_float, float, atomicAdd(to, 1.0f))
ALIKE(add_double, double, atomicAdd(to, 1.0))
KERNELS(add_half2, __half2, __low2float(atomicAdd(to, __half2(1.0f, 1.0f))), atomicAdd(to, __half2(1.0f, 1.0f)))
