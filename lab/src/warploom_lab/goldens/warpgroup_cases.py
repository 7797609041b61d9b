"""Products of warpgroups (``wgmma``): kernels and inputs that a real GPU answers.

`warpgroup_goldens.py` runs them on a GPU, `tests/emulator/sass/test_warpgroup_goldens.py` on the emulator. Inputs come from
seeds, so only answers are stored. A product of a warpgroup reads an image of shared memory through descriptors that the case
states field by field: nothing here depends on how anybody understands them.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
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
