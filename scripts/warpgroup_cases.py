"""Products of warpgroups (``wgmma``), other products of matrices, and tensor maps: kernels and inputs that a real GPU answers.

`warpgroup_goldens.py` runs them on a GPU, `tests/emulator/test_warpgroup_goldens.py` on the emulator. Inputs come from seeds, so
only answers are stored. A product of a warpgroup reads an image of shared memory through descriptors that the case states field
by field: nothing here depends on how anybody understands them.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

IMAGE_BYTES = 32768
THREADS = 128
_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}
PLAIN, SWIZZLE_128, SWIZZLE_64, SWIZZLE_32 = 0, 1, 2, 3


@dataclass(frozen=True)
class Descriptor:
    """Where a matrix lies in the image; all in bytes but the mode and the base offset."""

    start: int = 0
    leading: int = 128
    stride: int = 256
    swizzle: int = PLAIN
    base_offset: int = 0

    @property
    def bits(self) -> int:
        """The 64 bits of it, with the image at address 0."""
        return self.start >> 4 | self.leading >> 4 << 16 | self.stride >> 4 << 32 | self.base_offset << 49 | self.swizzle << 62


@dataclass(frozen=True)
class WarpgroupCase:
    """One ``wgmma`` in several blocks, each with contents of its own."""

    name: str
    n: int
    result: str  # f32, f16, s32
    first: str  # the elements of A
    second: str
    blocks: int = 1
    a: Descriptor | None = Descriptor()  # None: A is in registers
    b: Descriptor = Descriptor(start=16384)
    signs: tuple[int, int] = (1, 1)  # by which A and B are multiplied
    transposed: tuple[int, int] = (0, 0)
    adds: int = 1  # to what is in the accumulators
    saturates: bool = False
    awkward: bool = False

    @cached_property
    def inner(self) -> int:
        """Elements of the inner dimension."""
        return 256 // _BITS[self.first]

    @cached_property
    def registers(self) -> int:
        """Of the accumulators, in each thread."""
        return self.n // 4 if self.result == "f16" else self.n // 2

    @cached_property
    def kernel(self) -> str:
        """The name of the kernel, by all that is in the instruction."""
        place = "memory" if self.a is not None else "registers"
        signs = "".join("n" if sign < 0 else "p" for sign in self.signs)
        flags = f"{signs}{self.transposed[0]}{self.transposed[1]}{'s' if self.saturates else ''}"
        return f"k{self.n}_{self.result}_{self.first}_{self.second}_{place}_{flags}"

    @cached_property
    def source(self) -> str:
        """CUDA C++ of the kernel."""
        count, given = self.registers, 4 if self.a is None else 0
        letter, kind = ("f", "float") if self.result == "f32" else ("r", "unsigned")
        accumulators = "{" + ", ".join(f"%{n}" for n in range(count)) + "}"
        first = "{" + ", ".join(f"%{count + n}" for n in range(given)) + "}" if given else f"%{count}"
        rest = count + (given or 1)
        opcode = f"m64n{self.n}k{self.inner}.{self.result}.{self.first}.{self.second}"
        words = ""
        if self.result != "s32":
            words = f", {self.signs[0]}, {self.signs[1]}"
            if _BITS[self.first] == 16:
                words += f", {self.transposed[1]}" if given else f", {self.transposed[0]}, {self.transposed[1]}"
        elif self.first == "b1":
            opcode += ".and.popc"
        opcode += ".satfinite" if self.saturates else ""
        outputs = ", ".join(f'"+{letter}"(d[{n}])' for n in range(count))
        inputs = ", ".join([*(f'"r"(a[{n}])' for n in range(given)), *([] if given else ['"l"(at_a)'])])
        return f"""
extern "C" __global__ void {self.kernel}(const unsigned* image, const unsigned* A, const {kind}* C, {kind}* D,
                                         unsigned long long at_a, unsigned long long at_b, int adds) {{
    extern __shared__ unsigned space[];
    unsigned low = (unsigned)__cvta_generic_to_shared(space), start = (low + 1023) & ~1023u, thread = threadIdx.x;
    unsigned* shared = space + (start - low) / 4;
    for (int n = thread; n < {IMAGE_BYTES // 4}; n += {THREADS}) shared[n] = image[blockIdx.x * {IMAGE_BYTES // 4} + n];
    {kind} d[{count}];
    unsigned a[4];
    for (int n = 0; n < 4; n++) a[n] = A[(blockIdx.x * 4 + n) * {THREADS} + thread];
    for (int n = 0; n < {count}; n++) d[n] = C[(blockIdx.x * {count} + n) * {THREADS} + thread];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    at_a += start >> 4;
    at_b += start >> 4;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{{.reg .pred p; setp.ne.b32 p, %{rest + 1}, 0;\\n"
                 "wgmma.mma_async.sync.aligned.{opcode} {accumulators}, {first}, %{rest}, p{words};}}"
                 : {outputs} : {inputs}, "l"(at_b), "r"(adds) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < {count}; n++) D[(blockIdx.x * {count} + n) * {THREADS} + thread] = d[n];
    if (at_a == ~0ull) D[0] = a[0] + a[1] + a[2] + a[3];
}}
"""

    def inputs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Words of the images, of A in registers, and of the accumulators."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        half = IMAGE_BYTES // 8
        shape = (self.blocks, half)
        images = [elements(rng, shape, kind, self.awkward) for kind in (self.first, self.second)]
        registers = elements(rng, (self.blocks, 4, THREADS), self.first, self.awkward)
        accumulators = elements(rng, (self.blocks, self.registers, THREADS), self.result, self.awkward)
        return np.concatenate(images, axis=1), registers, accumulators


def elements(rng: np.random.Generator, shape: tuple[int, ...], kind: str, awkward: bool) -> np.ndarray:
    """Words of so many elements as fit; awkward ones tell apart how sums are cut off."""
    each = 32 // _BITS.get(kind, 32)
    if kind in ("s8", "u8", "b1"):
        return rng.integers(0, 1 << 32, shape, np.uint32)
    if kind == "s32":
        words = rng.integers(-(1 << 31), 1 << 31, shape).astype(np.int32)
        return np.where(rng.random(shape) < 0.5, words, words >> 20).astype(np.int32).view(np.uint32)
    count = int(np.prod(shape)) * each
    if kind in ("e4m3", "e5m2"):
        fraction_bits = 3 if kind == "e4m3" else 2
        small = rng.integers(0, 256, count, np.uint8)
        if not awkward:  # no zeros, infinities or NaNs, and exponents that are near each other
            exponent = rng.integers(4, 10, count).astype(np.uint8) << np.uint8(fraction_bits)
            small = (small & np.uint8(0x80 | (1 << fraction_bits) - 1)) | exponent
        else:
            top = 0x7F if kind == "e4m3" else 0x7C
            small[((small & 0x7F) >= top) & (rng.random(count) < 0.99)] = 0
        return small.view(np.uint32).reshape(shape)
    values = rng.normal(0, 1, count)
    if awkward:
        values = rng.choice([1.0, -1.0], count) * 2.0 ** rng.integers(-14, 12, count)
        values *= rng.choice([1.0, 1.5, 1 + 2**-7, 1 + 2**-10, 1.0 + 2**-10 + 2**-9], count)
        values[rng.random(count) < 0.3] = 0.0
        values[rng.random(count) < 0.02] = 2.0**-24
        values[rng.random(count) < 0.0005] = np.inf
    if kind == "f16":
        return values.astype(np.float16).view(np.uint32).reshape(shape)
    bits = values.astype(np.float32).view(np.uint32)
    return (bits >> 16).astype(np.uint16).view(np.uint32).reshape(shape) if kind == "bf16" else bits.reshape(shape)


def warpgroup_cases() -> list[WarpgroupCase]:
    """Sums of every kind of element, and every way that matrices lie in shared memory."""
    numbers = [
        ("f32", "f16", "f16"),
        ("f16", "f16", "f16"),
        ("f32", "bf16", "bf16"),
        ("f32", "tf32", "tf32"),
        ("f32", "e4m3", "e4m3"),
        ("f32", "e5m2", "e4m3"),
        ("f16", "e4m3", "e5m2"),
        ("s32", "s8", "s8"),
        ("s32", "u8", "s8"),
        ("s32", "s8", "u8"),
        ("s32", "b1", "b1"),
    ]
    cases = []
    for result, first, second in numbers:
        name = f"{result}.{first}.{second}"
        cases.append(WarpgroupCase(f"sums/{name}", 8, result, first, second, blocks=8))
        if result != "s32":
            cases.append(WarpgroupCase(f"awkward/{name}", 8, result, first, second, blocks=24, awkward=True))
        if first == second:
            cases.append(WarpgroupCase(f"registers/{name}", 16, result, first, second, a=None, blocks=4))
    cases.append(WarpgroupCase("saturates", 8, "s32", "s8", "s8", blocks=4, saturates=True))
    cases.append(WarpgroupCase("signs", 16, "f32", "f16", "f16", signs=(-1, 1)))
    cases.append(WarpgroupCase("signs of both", 16, "f32", "bf16", "bf16", signs=(-1, -1), a=None))
    cases.append(WarpgroupCase("no addend", 24, "f32", "f16", "f16", adds=0))
    places = {
        PLAIN: [(128, 256), (2048, 128), (256, 512), (128, 144)],
        SWIZZLE_32: [(16, 256), (4096, 512), (256, 1024)],
        SWIZZLE_64: [(16, 512), (4096, 1024), (512, 2048)],
        SWIZZLE_128: [(16, 1024), (4096, 2048), (1024, 1280)],
    }
    for swizzle, strides in places.items():
        for leading, stride in strides:
            for transposed in ((0, 0), (1, 0), (0, 1), (1, 1)):
                a, b = (Descriptor(start, leading, stride, swizzle) for start in (0, 8192))
                name = f"places/{swizzle}.{leading}.{stride}.{transposed[0]}{transposed[1]}"
                cases.append(WarpgroupCase(name, 64, "f32", "f16", "f16", a=a, b=b, transposed=transposed))
    for start in (32, 64, 96, 128, 256, 1024 + 32):  # further along the inner dimension, or rows that begin elsewhere
        for base_offset in (0, start >> 7 & 7):
            a, b = (Descriptor(first + start, 16, 1024, SWIZZLE_128, base_offset) for first in (0, 16384))
            name = f"starts/{start}.{base_offset}"
            cases.append(WarpgroupCase(name, 16, "f32", "bf16", "bf16", a=a, b=b))
    for kind, result in (("e4m3", "f32"), ("s8", "s32"), ("tf32", "f32"), ("b1", "s32")):
        for swizzle, stride in ((SWIZZLE_128, 1024), (SWIZZLE_64, 512), (SWIZZLE_32, 256), (PLAIN, 256)):
            a, b = (Descriptor(first, 128, stride, swizzle) for first in (0, 16384))
            cases.append(WarpgroupCase(f"places/{kind}.{swizzle}", 32, result, kind, kind, a=a, b=b))
    a, b = Descriptor(0, 16, 1024, SWIZZLE_128), Descriptor(0, 16, 1024, SWIZZLE_128)
    cases.append(WarpgroupCase("widest", 256, "f32", "bf16", "bf16", a=a, b=b))
    cases.append(
        WarpgroupCase("widest, transposed", 256, "f32", "f16", "f16", a=a, b=Descriptor(0, 4096, 1024, 1), transposed=(0, 1))
    )
    return cases


@dataclass(frozen=True)
class TensorCase:
    """A tile of a tensor that is copied to or from shared memory."""

    name: str
    kernel: str  # load, store, reduce
    element: str  # NumPy's name of it, or "bfloat16"
    sizes: tuple[int, ...]  # of the tensor, innermost first
    box: tuple[int, ...]
    at: tuple[int, ...]  # where the box begins
    swizzle: int = 0  # 0 none, 1 of 32 bytes, 2 of 64, 3 of 128
    interleave: int = 0
    steps: tuple[int, ...] = ()  # of elements; none: 1 each
    nan_outside: bool = False
    padding: int = 0  # bytes after each row of the tensor
    strides: tuple[int, ...] = field(init=False, default=())  # bytes

    def __post_init__(self) -> None:
        size = self.element_bytes
        strides, step = [], self.sizes[0] * size + self.padding
        for extent in self.sizes[1:]:
            strides.append(step)
            step *= extent
        object.__setattr__(self, "strides", tuple(strides))

    @property
    def element_bytes(self) -> int:
        return 2 if self.element == "bfloat16" else np.dtype(self.element).itemsize

    @property
    def tensor_bytes(self) -> int:
        if len(self.sizes) == 1:
            return self.sizes[0] * self.element_bytes
        return self.strides[-1] * self.sizes[-1]

    @property
    def box_bytes(self) -> int:
        steps = (1, *self.steps[1:]) if self.steps else (1,) * len(self.box)  # a step along the rows is not heeded
        return int(np.prod([-(-extent // step) for extent, step in zip(self.box, steps, strict=True)])) * self.element_bytes

    def inputs(self) -> tuple[np.ndarray, np.ndarray]:
        """Words of the tensor, and of a tile that is stored."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        words = -(-self.tensor_bytes // 4)
        if self.element in ("float32", "float16", "bfloat16"):
            count = words + 8192
            values = rng.normal(0, 1, count * (4 // self.element_bytes)).astype(np.float32)
            if self.element == "bfloat16":
                both = (values.view(np.uint32) >> 16).astype(np.uint16).view(np.uint32)
            else:
                both = values.astype(self.element).view(np.uint32)
        else:
            both = rng.integers(0, 1 << 32, words + 8192, np.uint32)
        return both[:words], both[words:]


def tensor_cases() -> list[TensorCase]:
    """Loads, stores and reductions of tiles in one to five dimensions, inside of the tensor and over its edges."""
    cases = [
        TensorCase("1d", "load", "int32", (100,), (64,), (10,)),
        TensorCase("1d over the end", "load", "int32", (100,), (64,), (60,)),
        TensorCase("2d", "load", "float32", (64, 32), (32, 8), (4, 5)),
        TensorCase("2d before the start", "load", "float32", (64, 32), (32, 8), (-3, -2)),
        TensorCase("2d over the end", "load", "float32", (64, 32), (32, 8), (50, 28)),
        TensorCase("2d outside", "load", "float32", (64, 32), (32, 8), (80, 28)),
        TensorCase("nan outside", "load", "float16", (64, 32), (32, 8), (50, 28), nan_outside=True),
        TensorCase("nan of f32 outside", "load", "float32", (64, 32), (32, 8), (50, 28), nan_outside=True),
        TensorCase("nan of bf16 outside", "load", "bfloat16", (64, 32), (32, 8), (50, 28), nan_outside=True),
        TensorCase("steps", "load", "int32", (64, 32), (32, 8), (4, 5), steps=(1, 2)),
        TensorCase("steps along", "load", "int32", (64, 32), (32, 8), (4, 5), steps=(2, 3)),
        TensorCase("bytes", "load", "uint8", (128, 16), (64, 16), (16, 1)),
        TensorCase("doubles", "load", "float64", (32, 16), (8, 16), (3, 1)),
        TensorCase("3d", "load", "int32", (32, 12, 10), (16, 4, 3), (20, 10, 8), padding=64),
        TensorCase("4d", "load", "float16", (32, 6, 5, 4), (16, 3, 2, 3), (3, -1, 4, 2)),
        TensorCase("5d", "load", "float16", (16, 6, 5, 4, 3), (8, 3, 2, 2, 2), (3, 1, 4, 2, -1)),
        TensorCase("store", "store", "float32", (64, 32), (32, 8), (4, 5)),
        TensorCase("store over the end", "store", "float32", (64, 32), (32, 8), (50, 28)),
        TensorCase("store before the start", "store", "float32", (64, 32), (32, 8), (-8, -3)),
        TensorCase("store swizzled", "store", "float16", (64, 32), (64, 16), (0, 8), swizzle=3),
        TensorCase("store 3d", "store", "int32", (32, 12, 10), (16, 4, 3), (20, 10, 8)),
        TensorCase("add", "add", "int32", (64, 32), (32, 8), (40, 28)),
        TensorCase("add f32", "add", "float32", (64, 32), (32, 8), (40, 28)),
        TensorCase("add f16", "add", "float16", (64, 32), (32, 8), (40, 28)),
        TensorCase("min", "min", "int32", (64, 32), (32, 8), (40, 28)),
        TensorCase("and", "and", "uint32", (64, 32), (32, 8), (40, 28)),
    ]
    for swizzle, inner in ((1, 16), (2, 32), (3, 64)):
        cases.append(TensorCase(f"swizzle {swizzle}", "load", "float16", (128, 40), (inner, 24), (16, 2), swizzle=swizzle))
    cases.append(TensorCase("swizzled 3d", "load", "float16", (128, 40, 4), (32, 10, 3), (16, 2, 1), swizzle=3))
    return cases


TENSOR_SOURCE = r"""
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
