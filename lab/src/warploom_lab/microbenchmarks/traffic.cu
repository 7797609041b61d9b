// Kernels whose traffic between L2 and DRAM is counted: which of what is stored is written to DRAM before a launch ends, and when.
typedef unsigned int u32;
typedef unsigned long long u64;
#define CLOCK(t) asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory")
#define EACH(NUMBER) for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x; k < (NUMBER); k += step)

// Whole lines, `rounds` times over the same, then every thread stays for `wait` cycles.
extern "C" __global__ void fill(u32* out, char* p, u64 bytes, u32 rounds, u32 wait) {
    u64 t0, t1;
    for (u32 r = 0; r < rounds; r++)
        EACH(bytes / 16) asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(p + 16 * k), "r"(r) : "memory");
    CLOCK(t0);
    do CLOCK(t1); while (t1 - t0 < wait);
}
// Whole sectors, `apart` bytes from each other.
extern "C" __global__ void fill_sectors(u32* out, char* p, u64 sectors, u32 apart) {
    EACH(2 * sectors)
        asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(p + k / 2 * apart + k % 2 * 16), "r"((u32)k) : "memory");
}
// Words, `apart` bytes from each other.
extern "C" __global__ void fill_words(u32* out, char* p, u64 words, u32 apart) {
    EACH(words) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + k * apart), "r"((u32)k) : "memory");
}
// The first half to the second.
extern "C" __global__ void copy(u32* out, uint4* p, u64 bytes) {
    EACH(bytes / 32) p[bytes / 32 + k] = p[k];
}
// Every word is read and written again where it was.
extern "C" __global__ void change(u32* out, uint4* p, u64 bytes) {
    EACH(bytes / 16) {
        uint4 v = p[k];
        p[k] = make_uint4(v.x + 1, v.y, v.z, v.w);
    }
}
extern "C" __global__ void add(u32* out, u32* p, u64 bytes) {
    EACH(bytes / 4) asm volatile("red.global.add.u32 [%0], 1;" ::"l"(p + k) : "memory");
}
// Some is written, and then other lines are read; `filled` may be 0.
extern "C" __global__ void read_after(u32* out, uint4* p, u64 filled, u64 bytes) {
    EACH(filled / 16) p[k] = make_uint4(1, 2, 3, 4);
    __syncthreads();
    u32 sum = 0;
    EACH(bytes / 16) {
        uint4 v;
        asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p + filled / 16 + k));
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 0x12345678) out[0] = sum;
}
