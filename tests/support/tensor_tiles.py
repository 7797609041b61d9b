"""Kernels that copy tiles of tensors, and the tiles that are tried."""

from __future__ import annotations

from dataclasses import dataclass

TENSORS = r"""
struct alignas(64) Map { unsigned long long words[16]; };
__device__ unsigned in_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
#define LOAD(dimensions, places, ...) \
    asm volatile("cp.async.bulk.tensor." #dimensions "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" \
                 places "}], [%2];" :: "r"(in_shared(tile)), "l"(&map), "r"(in_shared(&bar)), __VA_ARGS__ : "memory")
#define STORE(dimensions, places, ...) \
    asm volatile("cp.async.bulk.tensor." #dimensions "d.global.shared::cta.tile.bulk_group [%1, {" places "}], [%0];" \
                 :: "r"(in_shared(tile)), "l"(&map), __VA_ARGS__ : "memory")
#define REDUCE(how) \
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." how ".tile.bulk_group [%1, {%2, %3}], [%0];" \
                 :: "r"(in_shared(tile)), "l"(&map), "r"(x), "r"(y) : "memory")
extern "C" __global__ void load(const __grid_constant__ Map map, unsigned* out, int dimensions, int bytes,
                                int x, int y, int z, int u, int v) {
    extern __shared__ __align__(1024) unsigned tile[];
    __shared__ alignas(8) unsigned long long bar;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(in_shared(&bar)) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(in_shared(&bar)), "r"(bytes) : "memory");
        if (dimensions == 1) LOAD(1, "%3", "r"(x));
        if (dimensions == 2) LOAD(2, "%3, %4", "r"(x), "r"(y));
        if (dimensions == 3) LOAD(3, "%3, %4, %5", "r"(x), "r"(y), "r"(z));
        if (dimensions == 4) LOAD(4, "%3, %4, %5, %6", "r"(x), "r"(y), "r"(z), "r"(u));
        if (dimensions == 5) LOAD(5, "%3, %4, %5, %6, %7", "r"(x), "r"(y), "r"(z), "r"(u), "r"(v));
    }
    __syncthreads();
    unsigned done = 0;
    for (int tries = 0; !done && tries < 100000; tries++)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(in_shared(&bar)) : "memory");
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = done ? tile[i] : 0xbadbadu;
}
extern "C" __global__ void store(const __grid_constant__ Map map, const unsigned* in, int how, int dimensions, int bytes,
                                 int x, int y, int z) {
    extern __shared__ __align__(1024) unsigned tile[];
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) tile[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    if (how == 0 && dimensions == 2) STORE(2, "%2, %3", "r"(x), "r"(y));
    if (how == 0 && dimensions == 3) STORE(3, "%2, %3, %4", "r"(x), "r"(y), "r"(z));
    if (how == 1) REDUCE("add");
    if (how == 2) REDUCE("min");
    if (how == 3) REDUCE("and");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
"""
REDUCTIONS = {"store": 0, "add": 1, "min": 2, "and": 3}


@dataclass(frozen=True)
class Tile:
    """A tile of a tensor; all extents with the innermost last."""

    kernel: str  # load, or one of `REDUCTIONS`
    element: str
    shape: tuple[int, ...]
    box: tuple[int, ...]
    at: tuple[int, ...]  # where it begins
    swizzle: int = 0
    steps: tuple[int, ...] | None = None
    nan: bool = False

    @property
    def extents(self) -> tuple[int, ...]:
        """Of what is copied: steps leave some out, but not along rows."""
        steps = (*self.steps[:-1], 1) if self.steps is not None else (1,) * len(self.box)
        return tuple(-(-extent // step) for extent, step in zip(self.box, steps, strict=True))


TILES = {
    "one dimension": Tile("load", "int32", (100,), (64,), (10,)),
    "over the end": Tile("load", "int32", (100,), (64,), (60,)),
    "two dimensions": Tile("load", "float32", (32, 64), (8, 32), (5, 4)),
    "before the start": Tile("load", "float32", (32, 64), (8, 32), (-2, -3)),
    "outside": Tile("load", "float32", (32, 64), (8, 32), (28, 80)),
    "numbers outside": Tile("load", "float16", (32, 64), (8, 32), (28, 50), nan=True),
    "steps": Tile("load", "int32", (32, 64), (8, 32), (5, 4), steps=(2, 1)),
    "bytes": Tile("load", "uint8", (16, 128), (16, 64), (1, 16)),
    "doubles": Tile("load", "float64", (16, 32), (16, 8), (1, 3)),
    "three dimensions": Tile("load", "int32", (10, 12, 32), (3, 4, 16), (8, 10, 20)),
    "five dimensions": Tile("load", "float16", (3, 4, 5, 6, 16), (2, 2, 2, 3, 8), (-1, 2, 4, 1, 3)),
    "32 bytes": Tile("load", "float16", (40, 128), (24, 16), (2, 16), swizzle=32),
    "64 bytes": Tile("load", "float16", (40, 128), (24, 32), (2, 16), swizzle=64),
    "128 bytes": Tile("load", "float16", (40, 128), (24, 64), (2, 16), swizzle=128),
    "stored": Tile("store", "float32", (32, 64), (8, 32), (28, 50)),
    "stored before the start": Tile("store", "float32", (32, 64), (8, 32), (-3, -8)),
    "stored by 128 bytes": Tile("store", "float16", (32, 64), (16, 64), (8, 0), swizzle=128),
    "added": Tile("add", "int32", (32, 64), (8, 32), (28, 40)),
    "added numbers": Tile("add", "float32", (32, 64), (8, 32), (28, 40)),
    "added halves": Tile("add", "float16", (32, 64), (8, 32), (28, 40)),
    "least": Tile("min", "int32", (32, 64), (8, 32), (28, 40)),
    "common bits": Tile("and", "uint32", (32, 64), (8, 32), (28, 40)),
}
