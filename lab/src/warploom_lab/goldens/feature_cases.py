"""Kernels and inputs whose answers a real GPU gives: images, products of f64, barriers in shared memory, elected lanes, printf.

`feature_goldens.py` runs them on a GPU; `tests/emulator/sass/test_feature_goldens.py` on the emulator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SOURCE = r"""
typedef unsigned long long state;
__device__ unsigned in_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" {
__global__ void gather(cudaTextureObject_t t, const float2* at, float4* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[2 * i] = tex2Dgather<float4>(t, at[i].x, at[i].y, 0);
    out[2 * i + 1] = tex2Dgather<float4>(t, at[i].x, at[i].y, 2);
}
__global__ void slopes(cudaTextureObject_t t, const float2* at, float2* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float d = 0.1f * i;
    out[i].x = tex2DGrad<float>(t, at[i].x, at[i].y, make_float2(d, -d), make_float2(1, d));
    out[i].y = tex2D<float>(t, at[i].x, at[i].y);
}
__global__ void layers(cudaTextureObject_t t, const float2* at, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2DLayered<float>(t, at[i].x, at[i].y, i % 6 - 1);
}
__global__ void surface(cudaSurfaceObject_t from, cudaSurfaceObject_t to, float* out) {
    int x = (int)threadIdx.x - 3, y = (int)blockIdx.x - 2, i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    float v;
    surf2Dread(&v, from, x * 4, y, cudaBoundaryModeClamp);
    out[i] = v;
    surf2Dread(&v, from, x * 4, y, cudaBoundaryModeZero);
    out[i + 1] = v;
    unsigned short h;
    surf2Dread(&h, from, x * 4 + 2, y, cudaBoundaryModeZero);
    out[i + 2] = h;
    char b;
    surf2Dread(&b, from, x * 4 + 3, y, cudaBoundaryModeZero);
    out[i + 3] = b;
    surf2Dwrite(v + 1, to, x * 4, y, cudaBoundaryModeZero);
}
__global__ void doubles(const double* a, const double* b, const double* c, double* out) {
    int lane = threadIdx.x, at = blockIdx.x * 32 + lane;
    double x = c[2 * at], y = c[2 * at + 1];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(x), "+d"(y) : "d"(a[at]), "d"(b[at]));
    out[2 * at] = x;
    out[2 * at + 1] = y;
}
__global__ void barrier(state* out) {
    __shared__ alignas(8) state bar;
    unsigned at = in_shared(&bar);
    state s = 0;
    int n = 0;
#define SEE out[n++] = *(volatile state*)&bar; out[n++] = s; s = 0
    asm volatile("mbarrier.init.shared.b64 [%0], 3;" :: "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(s) : "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(s) : "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(s) : "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 48;" :: "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" :: "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 3;" : "=l"(s) : "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 32;" :: "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 8;" :: "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 8;" :: "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(s) : "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 2;" : "=l"(s) : "r"(at) : "memory"); SEE;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 2;" : "=l"(s) : "r"(at) : "memory"); SEE;
}
__global__ void elect(unsigned* out) {
    int i = threadIdx.x;
    unsigned who = 99, chosen = 0;
    if (i % 3 == 2) {
        asm volatile("{.reg .pred p; elect.sync %0|p, %2; selp.b32 %1, 1, 0, p;}"
                     : "=r"(who), "=r"(chosen) : "r"(0x24924924u));
    }
    out[2 * i] = who;
    out[2 * i + 1] = chosen;
}
__global__ void speak(int* out, float x, const char* word) {
    out[0] = printf("plain\n");
    out[1] = printf("%d %i %u %x %X %o|%5d|%-5d|%05d|%+d|% d\n", -1, 2, 3, 255, 255, 8, 42, 42, -42, 7, 7);
    out[2] = printf("%f %e %g %G %.3f %10.2f|%-10.1e|%a\n", x, x, x, x * 1e10, x, x, x, x);
    out[3] = printf("%c%c %s %10s|%-8s|%.2s\n", 'H', 'i', word, word, word, word);
    out[4] = printf("%lld %llu %llx %ld %hd %hhd %hhu\n", -1ll << 40, ~0ull, 1ull << 40, -5l, (short)-3, (char)200, 300);
    out[5] = printf("%p %%|%*d|%.*f|%#x %#o\n", (void*)0x1234, 6, 7, 2, 3.14159, 255, 8);
    out[6] = printf("%f %f %f %d%d\n", 1.0 / 0.0 * x, -1.0 / 0.0, 0.0 / 0.0, 1, 2);
    out[7] = printf("%5%|%y|%k %d\n", 5);
}
}
"""


@dataclass(frozen=True)
class Image:
    """A texture or a surface over values: (h, w), (h, w, channels) or (layers, h, w)."""

    values: np.ndarray
    surface: bool = False
    linear: bool = False
    address: str = "clamp"
    normalized: bool = False
    layered: bool = False
    gather: bool = False


@dataclass(frozen=True)
class Case:
    """One launch. Arrays and surfaces among the arguments are read back, in their order."""

    name: str
    kernel: str
    grid: int
    block: int
    arguments: tuple[object, ...]
    prints: bool = False


def _positions(rng: np.random.Generator, count: int, scale: float) -> np.ndarray:
    """Places in an image of 7 x 9 texels: random ones, and ones close to where the nearest texel changes."""
    close = np.round(rng.random((count // 2, 2)) * 20) / 2 + rng.choice([-1, 0, 1], (count // 2, 2)) / 2 ** rng.integers(
        6, 12, (count // 2, 2)
    )
    anywhere = rng.random((count - count // 2, 2)) * 14 - 3
    return (np.concatenate([close, anywhere]) * scale).astype(np.float32)


def cases() -> list[Case]:
    """All cases."""
    rng = np.random.default_rng(18)
    found = []
    colours, grey = rng.random((7, 9, 4)).astype(np.float32), rng.random((7, 9)).astype(np.float32)
    for address, normalized in (("clamp", False), ("border", False), ("wrap", True), ("clamp", True)):
        where, kind = _positions(rng, 256, 0.125 if normalized else 1.0), f"{address}{' normalized' if normalized else ''}"
        image = Image(colours, address=address, normalized=normalized, gather=True)
        found.append(Case(f"gather {kind}", "gather", 4, 64, (image, where, np.zeros((256, 8), np.float32))))
        for linear in (False, True):
            smooth = Image(grey, linear=linear, address=address, normalized=normalized)
            name = f"slopes {kind}{' linear' if linear else ''}"
            found.append(Case(name, "slopes", 4, 64, (smooth, where, np.zeros((256, 2), np.float32))))
    stack = rng.random((4, 7, 9)).astype(np.float32)
    for linear in (False, True):
        image = Image(stack, linear=linear, layered=True)
        where = _positions(rng, 256, 1.0)
        found.append(Case(f"layers{' linear' if linear else ''}", "layers", 4, 64, (image, where, np.zeros(256, np.float32))))
    target = Image(np.zeros((7, 9), np.float32), surface=True)
    found.append(Case("surface", "surface", 11, 16, (Image(grey, surface=True), target, np.zeros((176, 4), np.float32))))
    plain = [rng.normal(size=count) for count in (512, 512, 1024)]
    spread = [x * 2.0 ** rng.integers(-40, 40, len(x)) for x in plain]
    cancelled = [np.sign(x) * 2.0 ** rng.integers(-60, 60, len(x)) for x in plain]
    for name, (a, b, c) in (("plain", plain), ("spread", spread), ("cancelled", cancelled)):
        found.append(Case(f"doubles {name}", "doubles", 16, 32, (a, b, c, np.zeros(1024))))
    found.append(Case("barrier", "barrier", 1, 1, (np.zeros(26, np.uint64),)))
    found.append(Case("elect", "elect", 1, 32, (np.zeros(64, np.uint32),)))
    word = np.frombuffer(b"device\0\0", np.uint8).copy()
    found.append(Case("speak", "speak", 1, 1, (np.full(8, -9, np.int32), np.float32(2.5), word), prints=True))
    return found
