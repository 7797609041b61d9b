// attention of 64 queries over keys in tiles of 64, heads of 64: both products by a warpgroup, the second with its first matrix in
// registers; keys and values by cp.async.bulk, one tile ahead. Tiles lie in device memory as shared memory wants them.
typedef unsigned long long u64;
__device__ unsigned in_shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ u64 rows_of_128(unsigned at) { return (u64)(at >> 4) | (u64)(1024 >> 4) << 32 | 1ull << 62; }
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
__device__ void scores(float *d, u64 a, u64 b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, %34, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "n"(1));
}
__device__ void weigh(float *d, const unsigned *a, u64 b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "{%32, %33, %34, %35}, %36, %37, 1, 1, 1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(1));
}
__device__ unsigned halves(float low, float high)
{
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
extern "C" __global__ void __launch_bounds__(128) attention_warpgroups(const char *queries, const char *keys, const char *values, float *out, int tiles)
{
    extern __shared__ char space[];
    __shared__ __align__(8) u64 ready[3];
    unsigned start = in_shared(space) + 1023 & ~1023u;
    int t = threadIdx.x;
    if (t == 0) {
        for (int i = 0; i < 3; i++) begin(&ready[i], 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        expect(&ready[2], 8192);
        bring(start, queries + blockIdx.x * 8192, 8192, &ready[2]);
        expect(&ready[0], 16384);
        bring(start + 8192, keys, 8192, &ready[0]);
        bring(start + 16384, values, 8192, &ready[0]);
    }
    __syncthreads();
    wait(&ready[2], 0);
    float o[32], most[2] = {-1e30f, -1e30f}, sum[2] = {0, 0};
    for (int i = 0; i < 32; i++) o[i] = 0;
    for (int k = 0; k < tiles; k++) {
        int slot = k & 1;
        if (t == 0 && k + 1 < tiles) {
            expect(&ready[slot ^ 1], 16384);
            bring(start + 8192 + (slot ^ 1) * 16384, keys + (k + 1) * 8192, 8192, &ready[slot ^ 1]);
            bring(start + 16384 + (slot ^ 1) * 16384, values + (k + 1) * 8192, 8192, &ready[slot ^ 1]);
        }
        wait(&ready[slot], k / 2 & 1);
        float s[32];
        for (int i = 0; i < 32; i++) s[i] = 0;
        u64 at_q = rows_of_128(start), at_k = rows_of_128(start + 8192 + slot * 16384), at_v = rows_of_128(start + 16384 + slot * 16384);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 4; i++) scores(s, at_q + 2 * i, at_k + 2 * i);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float top = most[h];
            for (int j = 0; j < 8; j++) top = fmaxf(top, fmaxf(s[4 * j + 2 * h], s[4 * j + 2 * h + 1]));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
            float less = exp2f(most[h] - top), more = 0;
            most[h] = top;
            for (int j = 0; j < 8; j++)
                for (int i = 0; i < 2; i++) {
                    float e = exp2f(s[4 * j + 2 * h + i] - top);
                    s[4 * j + 2 * h + i] = e;
                    more += e;
                    o[4 * j + 2 * h + i] *= less;
                }
            sum[h] = sum[h] * less + more;
        }
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned p[4];
            for (int j = 0; j < 4; j++) p[j] = halves(s[8 * i + 2 * j], s[8 * i + 2 * j + 1]);
            weigh(o, p, at_v + 128 * i);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    for (int h = 0; h < 2; h++) {
        float all = sum[h] + __shfl_xor_sync(~0u, sum[h], 1);
        all += __shfl_xor_sync(~0u, all, 2);
        float *to = &out[(blockIdx.x * 64 + t / 32 * 16 + t % 32 / 4 + 8 * h) * 64 + t % 4 * 2];
        for (int j = 0; j < 8; j++) *(float2 *)(to + 8 * j) = make_float2(o[4 * j + 2 * h] / all, o[4 * j + 2 * h + 1] / all);
    }
}
