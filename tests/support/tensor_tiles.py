"""Copies of tiles of tensors (``cp.async.bulk.tensor``) in machine code, beside the same made of NumPy arrays.

They were not compared with a GPU.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from warploom.errors import WarploomError
from warploom.programs.device import Device
from warploom.sass.module import SassModule, from_cuda

SOURCE = r"""
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


@pytest.fixture(scope="module")
def module() -> SassModule:
    return from_cuda(SOURCE, "tensors.cu", "sm_90")


def _exchanged(tile: Tile, number: int) -> int:
    """The place of an element in shared memory, counted in elements."""
    size = np.dtype(tile.element).itemsize
    address = number * size
    if tile.swizzle:
        address ^= (address >> 7 & (tile.swizzle // 16 - 1)) << 4
    return address // size


def _reference(tile: Tile, tensor: np.ndarray, stored: np.ndarray) -> np.ndarray:
    """What is loaded, or the tensor afterwards."""
    steps = (*tile.steps[:-1], 1) if tile.steps is not None else (1,) * len(tile.box)
    empty = np.array([0x7FFF], np.uint16).view(np.float16)[0] if tile.nan else tensor.dtype.type(0)
    loaded, after = np.full(int(np.prod(tile.extents)), empty, tensor.dtype), tensor.copy()
    for number, index in enumerate(itertools.product(*map(range, tile.extents))):
        place = tuple(start + i * step for start, i, step in zip(tile.at, index, steps, strict=True))
        inside = all(0 <= x < extent for x, extent in zip(place, tensor.shape, strict=True))
        near = _exchanged(tile, number)
        if tile.kernel == "load":
            loaded[near] = tensor[place] if inside else empty
        elif inside:
            value = stored[near]
            with np.errstate(over="ignore"):
                how = {"store": lambda _old, new: new, "add": np.add, "min": np.minimum, "and": np.bitwise_and}[tile.kernel]
                after[place] = how(tensor[place], value)
    return loaded if tile.kernel == "load" else after


@pytest.mark.parametrize("name", TILES)
def test_like_arrays(name: str, module: SassModule) -> None:
    tile = TILES[name]
    rng = np.random.default_rng(len(name))
    element = np.dtype(tile.element)
    count = int(np.prod(tile.shape))
    values = rng.normal(0, 1e3, count + 4096).astype(np.int64 if element.kind in "iu" else np.float64).astype(element)
    tensor, stored = values[:count].reshape(tile.shape), values[count:]
    device = Device(lambda kernel, _shape: module.kernel(kernel), record=None)
    there = device.array(tensor)
    made = device.tensor_map(there, tile.box, swizzle=tile.swizzle, steps=tile.steps, nan=tile.nan)
    at = [np.int32(place) for place in (*tile.at[::-1], 0, 0, 0, 0)[:5]]
    size = int(np.prod(tile.extents)) * element.itemsize
    facts = (np.int32(len(tile.shape)), np.int32(size))
    if tile.kernel == "load":
        out = device.array(np.zeros(size // 4, np.uint32))
        device.launch("load", (1,), (32,), made, out, *facts, *at, shared_bytes=size + 2048)
        got = out.get().view(element)
    else:
        how = np.int32(REDUCTIONS[tile.kernel])
        device.launch("store", (1,), (32,), made, device.array(stored), how, *facts, *at[:3], shared_bytes=size + 2048)
        got = there.get()
    assert np.array_equal(got.reshape(-1).view(np.uint8), _reference(tile, tensor, stored).reshape(-1).view(np.uint8))


def test_what_is_no_tensor_map_is_named(module: SassModule) -> None:
    device = Device(lambda name, _shape: module.kernel(name), record=None)
    out, zeros = device.array(np.zeros(64, np.uint32)), (np.int32(0),) * 5
    with pytest.raises(WarploomError, match="no tensor map"):
        device.launch("load", (1,), (32,), bytes(128), out, np.int32(2), np.int32(256), *zeros, shared_bytes=2048)


def test_a_box_that_cannot_be_is_refused() -> None:
    device = Device(lambda *_: pytest.fail("nothing is launched"), record=None)
    array = device.array(np.zeros((8, 64), np.float32))
    for words, box, swizzle in (("axes", (8,), 0), ("extents", (8, 300), 0), ("16", (8, 3), 0), ("more than", (8, 32), 64)):
        with pytest.raises(WarploomError, match=words):
            device.tensor_map(array, box, swizzle=swizzle)
