"""Copies of tiles of tensors (``cp.async.bulk.tensor``) in machine code, beside the same made of NumPy arrays.

They were not compared with a GPU.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from support.tensor_tiles import REDUCTIONS, TENSORS, TILES, Tile
from warploom.base.errors import WarploomError
from warploom.compiler.sass.module import SassModule, from_cuda
from warploom.programs.device import Device


@pytest.fixture(scope="module")
def module() -> SassModule:
    return from_cuda(TENSORS, "tensors.cu", "sm_90")


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
                how: dict[str, Callable[..., Any]] = {
                    "store": lambda _old, new: new,
                    "add": np.add,
                    "min": np.minimum,
                    "and": np.bitwise_and,
                }
                after[place] = how[tile.kernel](tensor[place], value)
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
