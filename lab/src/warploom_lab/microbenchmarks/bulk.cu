// Kernels that show copies of many bytes and the barriers that count them. Each CTA has one warp; its first lane copies and waits.
typedef unsigned int u32;
typedef unsigned long long u64;
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")
#define MOST 16  // copies under way

__device__ u32 in_shared(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void begin(u64* barrier, u32 count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(in_shared(barrier)), "r"(count) : "memory");
}
__device__ void expect(u64* barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(in_shared(barrier)), "r"(bytes) : "memory");
}
__device__ void bring(u32 to, const char* from, u32 bytes, u64* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
                 "r"(bytes), "r"(in_shared(barrier))
                 : "memory");
}
__device__ void wait(u64* barrier, u32 parity) {
    asm volatile(
        "{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra AGAIN; }" ::"r"(in_shared(barrier)),
        "r"(parity)
        : "memory");
}
#define FIRST                                                                        \
    extern __shared__ __align__(128) char space[];                                   \
    __shared__ __align__(8) u64 barriers[MOST];                                      \
    if (threadIdx.x == 0)                                                            \
        for (int n = 0; n < MOST; n++) begin(barriers + n, 1);                       \
    __syncthreads();                                                                 \
    if (threadIdx.x != 0) return;                                                    \
    u32 to = in_shared(space);                                                       \
    const char* from = p + (u64)blockIdx.x * apart;                                  \
    u64 t0, t1;
#define DONE                                                                         \
    out[2 * blockIdx.x] = (u32)(t1 - t0);                                            \
    out[2 * blockIdx.x + 1] = *(volatile u32*)space;

// Copies of `bytes` one after the other, each waited for; the next is `step` bytes further on, within `span`.
extern "C" __global__ void bulk_chain(u32* out, const char* p, u32 bytes, u32 step, u32 span, u32 apart, u32 steps) {
    FIRST
    u32 at = 0;
    for (u32 i = 0; i < 2; i++) { expect(barriers, bytes); bring(to, from + at, bytes, barriers); wait(barriers, i & 1); }
    CLOCK(t0);
#pragma unroll 1
    for (u32 i = 0; i < steps; i++) {
        expect(barriers, bytes);
        bring(to, from + at, bytes, barriers);
        wait(barriers, i & 1);
        at += step;
        if (at >= span) at = 0;
    }
    CLOCK(t1);
    DONE
}

// The same with `depth` of them under way, each with a barrier of its own.
extern "C" __global__ void bulk_flood(u32* out, const char* p, u32 bytes, u32 step, u32 span, u32 apart, u32 steps, u32 depth) {
    FIRST
    u32 at = 0;
    CLOCK(t0);
    for (u32 n = 0; n < depth; n++) { expect(barriers + n, bytes); bring(to, from + at, bytes, barriers + n); at += step; }
    u32 slot = 0, parity = 0;
#pragma unroll 1
    for (u32 i = 0; i < steps; i++) {
        wait(barriers + slot, parity);
        expect(barriers + slot, bytes);
        bring(to, from + at, bytes, barriers + slot);
        at += step;
        if (at >= span) at = 0;
        if (++slot == depth) { slot = 0; parity ^= 1; }
    }
    for (u32 n = 0; n < depth; n++) {
        wait(barriers + slot, parity);
        if (++slot == depth) { slot = 0; parity ^= 1; }
    }
    CLOCK(t1);
    DONE
}

// Copies from shared memory to device memory, each waited for until it has been read (or, with `whole`, until it is done).
extern "C" __global__ void bulk_store(u32* out, char* p, u32 bytes, u32 step, u32 span, u32 apart, u32 steps, u32 whole) {
    FIRST
    u32 at = 0;
    CLOCK(t0);
#pragma unroll 1
    for (u32 i = 0; i < steps; i++) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(from + at), "r"(to), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        if (whole) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        else asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        at += step;
        if (at >= span) at = 0;
    }
    CLOCK(t1);
    DONE
}

// A barrier alone: one lane arrives and waits for what it has completed itself.
extern "C" __global__ void barrier_alone(u32* out, const char* p, u32 apart, u32 steps) {
    FIRST
    CLOCK(t0);
#pragma unroll 1
    for (u32 i = 0; i < steps; i++) {
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(in_shared(barriers)) : "memory");
        wait(barriers, i & 1);
    }
    CLOCK(t1);
    DONE
}

// Two warps that wait for each other in turn, by two barriers.
extern "C" __global__ void barrier_turns(u32* out, u32 steps) {
    __shared__ __align__(8) u64 barriers[2];
    if (threadIdx.x == 0) { begin(barriers, 1); begin(barriers + 1, 1); }
    __syncthreads();
    if (threadIdx.x % 32) return;
    u32 mine = threadIdx.x / 32;
    u64 t0, t1;
    CLOCK(t0);
#pragma unroll 1
    for (u32 i = 0; i < steps; i++) {
        if (mine) wait(barriers, i & 1);
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(in_shared(barriers + mine)) : "memory");
        if (!mine) wait(barriers + 1, i & 1);
    }
    CLOCK(t1);
    out[2 * mine] = (u32)(t1 - t0);
}
