"""Kernels with barriers in shared memory that count arrivals and bytes: those of every architecture, and those of Hopper."""

from __future__ import annotations

COMMON = """
typedef unsigned long long state;
__device__ unsigned in_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void begin(state* b, int n) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(in_shared(b)), "r"(n) : "memory");
}
__device__ state arrive(state* b) {
    state before;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(before) : "r"(in_shared(b)) : "memory");
    return before;
}
__device__ bool over(state* b, state s) {
    int yes;
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
                 : "=r"(yes) : "r"(in_shared(b)), "l"(s) : "memory");
    return yes;
}
__device__ unsigned pending(state s) {
    unsigned n;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(s));
    return n;
}
extern "C" {
__global__ void rounds(int* out, int times) {
    __shared__ alignas(8) state bar;
    __shared__ int data[128];
    int i = threadIdx.x, n = blockDim.x, sum = 0;
    if (i == 0) begin(&bar, n);
    __syncthreads();
    for (int r = 0; r < times; r++) {
        data[i] = i * r;
        state s = arrive(&bar);
        while (!over(&bar, s)) ;
        sum += data[(i + 33) % n];
        s = arrive(&bar);
        while (!over(&bar, s)) ;
    }
    out[i] = sum;
}
__global__ void counting(int* out) {
    __shared__ alignas(8) state bar;
    begin(&bar, 3);
    state a = arrive(&bar), b = arrive(&bar);
    out[0] = pending(a); out[1] = pending(b); out[2] = over(&bar, b);
    state c = arrive(&bar);
    out[3] = pending(c); out[4] = over(&bar, c);
    state d;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(d) : "r"(in_shared(&bar)) : "memory");
    out[5] = pending(d);
    arrive(&bar);
    state e = arrive(&bar);  // the last of the second phase
    out[6] = over(&bar, d);
    out[7] = pending(arrive(&bar)); out[8] = pending(arrive(&bar)); out[9] = pending(arrive(&bar));
    asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(in_shared(&bar)) : "memory");
}
__global__ void behind_copies(const int* in, int* out) {
    __shared__ alignas(8) state bar;
    __shared__ alignas(16) int data[128];
    int i = threadIdx.x;
    if (i == 0) begin(&bar, 32);
    __syncwarp();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(in_shared(data + 4 * i)), "l"(in + 4 * i) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(in_shared(&bar)) : "memory");
    bool done = false;
    while (!done) {
        int yes;
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
                     : "=r"(yes) : "r"(in_shared(&bar)) : "memory");
        done = yes;
    }
    out[i] = data[127 - i];
}
}
"""
HOPPER = """
extern "C" {
__device__ bool waited(state* b, int parity) {
    int yes;
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
                 : "=r"(yes) : "r"(in_shared(b)), "r"(parity) : "memory");
    return yes;
}
__global__ void bytes(int* out) {
    __shared__ alignas(8) state bar;
    unsigned at = in_shared(&bar);
    begin(&bar, 2);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 48;" :: "r"(at) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(at) : "memory");
    out[0] = waited(&bar, 0);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" :: "r"(at) : "memory");
    out[1] = waited(&bar, 0);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 32;" :: "r"(at) : "memory");
    out[2] = waited(&bar, 0); out[3] = waited(&bar, 1);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 8;" :: "r"(at) : "memory");  // before it is expected
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 8;" :: "r"(at) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 _, [%0], 2;" :: "r"(at) : "memory");
    out[4] = waited(&bar, 1); out[5] = waited(&bar, 0);
}
__global__ void bulk(const int* in, int* out, int bytes) {
    extern __shared__ __align__(16) int data[];
    __shared__ alignas(8) state bar;
    int i = threadIdx.x;
    if (i == 0) {
        begin(&bar, 1);
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(in_shared(&bar)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(in_shared(data)), "l"(in), "r"(bytes), "r"(in_shared(&bar)) : "memory");
    }
    __syncthreads();
    while (!waited(&bar, 0)) ;
    for (int n = i; n < bytes / 4; n += blockDim.x) data[n] *= 3;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (i == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                     :: "l"(out), "r"(in_shared(data)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
}
"""
