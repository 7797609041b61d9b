// What CTAs of a cluster cost each other: barriers, loads, stores and atomics in each other's shared memory, arrivals, copies to several.
typedef unsigned int u32;
typedef unsigned long long u64;
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")
#define CLUSTER_SYNC                                                                 \
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");                    \
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory")
#define BEGIN                                                                        \
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, found = lane, rank; \
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));                     \
    u64 t0, t1;
#define MAPPED(TO, FROM, CTA) asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(TO) : "r"(FROM), "r"(CTA))
#define END                                                                          \
    asm volatile("" ::"r"(found) : "memory");                                        \
    CLOCK(t1);                                                                       \
    if (lane == 0) {                                                                 \
        out[2 * (thread / 32)] = (u32)(t1 - t0);                                     \
        out[2 * (thread / 32) + 1] = found;                                          \
    }                                                                                \
    CLUSTER_SYNC;
#define STEPS_OF(N, ...)                                                             \
    CLUSTER_SYNC;                                                                    \
    CLOCK(t0);                                                                       \
    _Pragma("unroll 1") for (u32 i = 0; i < steps; i += N) {                         \
        _Pragma("unroll") for (int k = 0; k < N; k++) { __VA_ARGS__; }               \
    }
#define KERNELS(SIZE)                                                                \
    extern "C" __global__ void __cluster_dims__(SIZE) barrier_##SIZE(u32* out, u64* p, u32 away, u32 steps) { \
        BEGIN STEPS_OF(4, CLUSTER_SYNC) END                                          \
    }                                                                                \
    /* Each load's address is what the load before found: rank 0 in the CTA that many ranks away, the others do nothing. */ \
    extern "C" __global__ void __cluster_dims__(SIZE) chase_##SIZE(u32* out, u64* p, u32 away, u32 steps) { \
        __shared__ u32 words[1024];                                                  \
        BEGIN u32 own = (u32)__cvta_generic_to_shared(words), at;                    \
        MAPPED(at, own, (rank + away) % SIZE);                                       \
        u32 mine;                                                                    \
        MAPPED(mine, own, rank);                                                     \
        for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = mine + 4 * i; \
        u32 loops = rank == 0 ? steps : 0;                                           \
        CLUSTER_SYNC;                                                                \
        at += 4 * lane;                                                              \
        CLOCK(t0);                                                                   \
        _Pragma("unroll 1") for (u32 i = 0; i < loops; i += 8) {                     \
            _Pragma("unroll") for (int k = 0; k < 8; k++)                            \
                asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at));         \
        }                                                                            \
        found = at;                                                                  \
        END                                                                          \
    }                                                                                \
    extern "C" __global__ void __cluster_dims__(SIZE) load_##SIZE(u32* out, u64* p, u32 away, u32 steps) { \
        __shared__ __align__(16) u32 words[8192];                                    \
        BEGIN u32 own = (u32)__cvta_generic_to_shared(words), at;                    \
        MAPPED(at, own, (rank + away) % SIZE);                                       \
        at += threadIdx.x * 4;                                                       \
        u32 a[8] = {};                                                               \
        STEPS_OF(8, asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(a[k]) : "r"(at + 4096 * (k % 4)))) \
        for (int k = 0; k < 8; k++) found += a[k];                                   \
        END                                                                          \
    }                                                                                \
    extern "C" __global__ void __cluster_dims__(SIZE) load4_##SIZE(u32* out, u64* p, u32 away, u32 steps) { \
        __shared__ __align__(16) u32 words[8192];                                    \
        BEGIN u32 own = (u32)__cvta_generic_to_shared(words), at;                    \
        MAPPED(at, own, (rank + away) % SIZE);                                       \
        at += threadIdx.x * 16;                                                      \
        u32 a[4] = {}, b[4] = {}, c[4] = {}, d[4] = {};                              \
        STEPS_OF(4, asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a[k]), "=r"(b[k]), "=r"(c[k]), "=r"(d[k]) : "r"(at))) \
        for (int k = 0; k < 4; k++) found += a[k] + b[k] + c[k] + d[k];              \
        END                                                                          \
    }                                                                                \
    extern "C" __global__ void __cluster_dims__(SIZE) store_##SIZE(u32* out, u64* p, u32 away, u32 steps) { \
        __shared__ __align__(16) u32 words[8192];                                    \
        BEGIN u32 own = (u32)__cvta_generic_to_shared(words), at;                    \
        MAPPED(at, own, (rank + away) % SIZE);                                       \
        at += threadIdx.x * 4;                                                       \
        STEPS_OF(8, asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at + 4096 * (k % 4)), "r"(i) : "memory")) \
        END                                                                          \
        found = words[threadIdx.x];                                                  \
        if (found == ~0u) out[0] = found;                                            \
    }                                                                                \
    extern "C" __global__ void __cluster_dims__(SIZE) add_##SIZE(u32* out, u64* p, u32 away, u32 steps) { \
        __shared__ __align__(16) u32 words[8192];                                    \
        BEGIN u32 own = (u32)__cvta_generic_to_shared(words), at;                    \
        MAPPED(at, own, (rank + away) % SIZE);                                       \
        at += threadIdx.x * 4;                                                       \
        u32 a[4] = {};                                                               \
        STEPS_OF(4, asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(a[k]) : "r"(at) : "memory")) \
        for (int k = 0; k < 4; k++) found += a[k];                                   \
        END                                                                          \
    }                                                                                \
    /* Rank 0 and the CTA away from it arrive at each other's barrier by turns: a step is there and back. */ \
    extern "C" __global__ void __cluster_dims__(SIZE) arrive_##SIZE(u32* out, u64* p, u32 away, u32 steps) { \
        __shared__ u64 bar;                                                          \
        BEGIN u32 own = (u32)__cvta_generic_to_shared(&bar), at, other = rank == 0 ? away : 0; \
        MAPPED(at, own, other);                                                      \
        if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(own) : "memory"); \
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");           \
        CLUSTER_SYNC;                                                                \
        CLOCK(t0);                                                                   \
        if (threadIdx.x == 0 && (rank == 0 || rank == away))                         \
            for (u32 i = 0; i < steps; i++) {                                        \
                u32 done = 0;                                                        \
                if (rank == 0) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at) : "memory"); \
                do asm volatile("{.reg .pred q; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 q, [%1], %2; selp.u32 %0, 1, 0, q;}" : "=r"(done) : "r"(own), "r"(i & 1) : "memory"); \
                while (!done);                                                       \
                if (rank != 0) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at) : "memory"); \
            }                                                                        \
        END                                                                          \
    }                                                                                \
    /* Rank 0 copies so many bytes from global memory into every CTA of the cluster (`away` is the number of bytes). */ \
    extern "C" __global__ void __cluster_dims__(SIZE) multicast_##SIZE(u32* out, u64* p, u32 away, u32 steps) { \
        __shared__ __align__(128) u32 words[4096];                                   \
        __shared__ u64 bar;                                                          \
        BEGIN u32 own = (u32)__cvta_generic_to_shared(&bar), to = (u32)__cvta_generic_to_shared(words); \
        if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(own) : "memory"); \
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");           \
        CLUSTER_SYNC;                                                                \
        CLOCK(t0);                                                                   \
        for (u32 i = 0; i < steps; i++) {                                            \
            u32 done = 0;                                                            \
            if (threadIdx.x == 0) asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(own), "r"(away) : "memory"); \
            CLUSTER_SYNC;                                                            \
            if (threadIdx.x == 0 && rank == 0)                                       \
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(to), "l"(p), "r"(away), "r"(own), "h"((unsigned short)((1 << SIZE) - 1)) : "memory"); \
            do asm volatile("{.reg .pred q; mbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2; selp.u32 %0, 1, 0, q;}" : "=r"(done) : "r"(own), "r"(i & 1) : "memory"); \
            while (!done);                                                           \
        }                                                                            \
        END                                                                          \
    }
KERNELS(1)
KERNELS(2)
KERNELS(4)
KERNELS(8)
