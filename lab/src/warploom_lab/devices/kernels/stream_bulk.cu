// a stream through shared memory: tiles of 8 KB come and go by bulk copies, three under way while one is used
typedef unsigned long long u64;
__device__ unsigned in_shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void begin(u64 *barrier, int count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(in_shared(barrier)), "r"(count) : "memory"); }
__device__ void arrive(u64 *barrier) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(in_shared(barrier)) : "memory"); }
__device__ void expect(u64 *barrier, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(in_shared(barrier)), "r"(bytes) : "memory"); }
__device__ void bring(unsigned to, const void *from, int bytes, u64 *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(in_shared(barrier)) : "memory");
}
__device__ void wait(u64 *barrier, int parity)
{
    asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra AGAIN; }" ::"r"(in_shared(barrier)), "r"(parity) : "memory");
}
extern "C" __global__ void stream_bulk(const char *in, char *out, int tiles)
{
    __shared__ __align__(128) float space[4][2048];
    __shared__ __align__(8) u64 ready[4];
    int t = threadIdx.x;
    const char *from = in + blockIdx.x * tiles * 8192;
    char *to = out + blockIdx.x * tiles * 8192;
    if (t == 0) {
        for (int i = 0; i < 4; i++) begin(&ready[i], 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        for (int i = 0; i < 3; i++) {
            expect(&ready[i], 8192);
            bring(in_shared(space[i]), from + i * 8192, 8192, &ready[i]);
        }
    }
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        int slot = k % 4, next = (k + 3) % 4;
        wait(&ready[slot], k / 4 & 1);
        for (int i = t; i < 2048; i += 128) space[slot][i] = space[slot][i] * 1.5f + 1.0f;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 8192;" ::"l"(to + k * 8192), "r"(in_shared(space[slot])) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            if (k + 3 < tiles) {
                asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
                expect(&ready[next], 8192);
                bring(in_shared(space[next]), from + (k + 3) * 8192, 8192, &ready[next]);
            }
        }
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
