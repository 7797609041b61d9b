// half precision by a warpgroup: tiles of 64 x 128, wgmma.m64n128k16, operands by cp.async in three stages
typedef unsigned long long u64;
__device__ unsigned in_shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ u64 rows_of_128(unsigned at) { return (u64)(at >> 4) | (u64)(1024 >> 4) << 32 | 1ull << 62; }
__device__ void multiply(float *d, u64 a, u64 b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, %66, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b), "n"(1));
}
__device__ void bring(unsigned to, const unsigned short *from, int rows, int depth)
{
    for (int i = threadIdx.x; i < rows * 8; i += 128) {
        unsigned r = i / 8, piece = i % 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + r * 128 + ((piece ^ r & 7) << 4)), "l"(from + r * depth + piece * 8) : "memory");
    }
}
extern "C" __global__ void __launch_bounds__(128) matmul_warpgroups(const unsigned short *a, const unsigned short *b, float *c, int n, int depth)
{
    extern __shared__ char space[];
    unsigned start = in_shared(space) + 1023 & ~1023u;
    int t = threadIdx.x, steps = depth / 64;
    const unsigned short *of_a = a + blockIdx.y * 64 * depth, *of_b = b + blockIdx.x * 128 * depth;
    float d[64];
    for (int i = 0; i < 64; i++) d[i] = 0;
    for (int k = 0; k < 2; k++) {
        bring(start + k * 24576, of_a + k * 64, 64, depth);
        bring(start + k * 24576 + 8192, of_b + k * 64, 128, depth);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int k = 0; k < steps; k++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (k + 2 < steps) {
            bring(start + (k + 2) % 3 * 24576, of_a + (k + 2) * 64, 64, depth);
            bring(start + (k + 2) % 3 * 24576 + 8192, of_b + (k + 2) * 64, 128, depth);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        u64 at_a = rows_of_128(start + k % 3 * 24576), at_b = rows_of_128(start + k % 3 * 24576 + 8192);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 4; i++) multiply(d, at_a + 2 * i, at_b + 2 * i);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    for (int j = 0; j < 16; j++) {
        float *to = &c[(blockIdx.y * 64 + t / 32 * 16 + t % 32 / 4) * n + blockIdx.x * 128 + j * 8 + t % 4 * 2];
        *(float2 *)to = make_float2(d[4 * j], d[4 * j + 1]);
        *(float2 *)(to + 8 * n) = make_float2(d[4 * j + 2], d[4 * j + 3]);
    }
}
