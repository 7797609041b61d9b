"""Makes the description of a tensor that copies of tiles read, as CUDA's driver makes it: the 128 bytes of a ``CUtensorMap``.

The layout is the hardware's; `tensor_maps` reads it. Extents, strides and the like have the innermost axis first, as in CUDA.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from warploom.base.errors import WarploomError
from warploom.emulator.device_memory import DeviceArray

MAP_BYTES = 128
MOST_DIMENSIONS, MOST_BOX, MOST_STEP = 5, 256, 8
_MOST_SIZE, _MOST_STRIDE = 1 << 32, 1 << 40
_MOST_TILE_BYTES = 227 << 10  # what a block may have of shared memory
_PIECES = (
    16,
    32,
    64,
    128,
)  # bytes within which pieces of 16 bytes are exchanged, by the number of the swizzle; the first: not at all
_ALIGNMENTS = 16, 256, 512, 1024  # in shared memory, by the number of the swizzle
_CORNER_BITS = {3: 16, 4: 8, 5: 5}  # of each coordinate of a corner, by the number of dimensions
_MOST_CHANNELS, _MOST_PIXELS = 256, 1024
_BY_32_BYTES = 2  # the number of this interleaved layout


class Format(IntEnum):
    """What the elements are, by the hardware's numbers."""

    U8 = 0
    U16 = 1
    U32 = 2
    S32 = 3
    U64 = 4
    S64 = 5
    F16 = 6
    F32 = 7
    F32_FLUSHED = 8  # subnormals are read as zero
    F64 = 9
    BF16 = 10


ELEMENT_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2)
"""By format."""
DRIVER_TYPES = (
    *((kind, False) for kind in (Format.U8, Format.U16, Format.U32, Format.S32, Format.U64, Format.S64, Format.F16, Format.F32)),
    *((kind, False) for kind in (Format.F64, Format.BF16, Format.F32_FLUSHED)),
    *((kind, True) for kind in (Format.F32, Format.F32_FLUSHED)),
)
"""The driver's numbers of types: what the elements are, and whether they are rounded to TF32."""
_NUMPY_FORMATS = {"u1": Format.U8, "u2": Format.U16, "u4": Format.U32, "i4": Format.S32, "u8": Format.U64, "i8": Format.S64} | {
    "f2": Format.F16,
    "f4": Format.F32,
    "f8": Format.F64,
}


@dataclass(frozen=True)
class Tensor:
    """A tensor in device memory, and how tiles of it are brought."""

    format: Format
    address: int
    sizes: Sequence[int]
    strides: Sequence[int]  # in bytes, of all but the innermost dimension
    steps: Sequence[int]
    swizzle: int = 0  # 0 to 3: not at all, within 32, 64 or 128 bytes
    interleave: int = 0
    promotion: int = 0  # how much L2 fetches
    nan: bool = False  # what is outside is read as NaNs
    rounded: bool = False  # to TF32


def tiled(tensor: Tensor, box: Sequence[int]) -> bytes:
    """The map for tiles with the extents of a box."""
    _check(tensor, "box", tensor.sizes, box)
    if any(not 1 <= extent <= MOST_BOX for extent in box):
        raise WarploomError(f"the box {tuple(box)} of a tensor map has extents outside of 1 to {MOST_BOX}.")
    _check_row(tensor, box[0], f"a row of the box {tuple(box)} of a tensor map")
    brought = math.prod(extent // step for extent, step in zip(box, tensor.steps, strict=True))
    first = sum(step - 1 << 3 * at for at, step in enumerate(tensor.steps)) | box[0] - 1 << 24
    return _map(tensor, 0, first, _packed(box[1:], 8, 1), 0, brought)


def im2col(tensor: Tensor, lower: Sequence[int], upper: Sequence[int], channels: int, pixels: int) -> bytes:
    """The map for columns of pixels within a window, whose corners are given relative to the tensor's."""
    dimensions = len(tensor.sizes)
    _check(tensor, "window", tensor.sizes[2:], lower, upper)
    if dimensions not in _CORNER_BITS or not 1 <= channels <= _MOST_CHANNELS or not 1 <= pixels <= _MOST_PIXELS:
        raise WarploomError(
            f"a tensor map for columns has 3 to 5 dimensions, up to {_MOST_CHANNELS} channels and up to {_MOST_PIXELS} pixels, "
            f"not {dimensions}, {channels} and {pixels}."
        )
    bits = _CORNER_BITS[dimensions]
    half = 1 << bits - 1
    if any(not -half <= corner < half for corner in (*lower, *upper)):
        raise WarploomError(
            f"the corners {tuple(lower)} and {tuple(upper)} of a tensor map lie outside of {-half} to {half - 1}."
        )
    if any(size + high - low < 1 for size, low, high in zip(tensor.sizes[1:-1], lower, upper, strict=True)):
        raise WarploomError(f"the window from {tuple(lower)} to {tuple(upper)} of a tensor map is empty.")
    _check_row(tensor, channels, f"a pixel of a tensor map, with {channels} channels,")
    first = sum(step - 1 << 3 * at for at, step in enumerate(tensor.steps)) | channels - 1 << 24
    corners = _packed(lower, bits, 0) | _packed(upper, bits, 0) << 16
    return _map(tensor, 1, first, corners, pixels - 1, channels * pixels)


def tensor_map(array: DeviceArray, box: Sequence[int], swizzle: int, steps: Sequence[int] | None, nan: bool) -> bytes:
    """The bytes of a map over an array on the device; shapes have the innermost axis last."""
    size = array.dtype.itemsize
    kind = _NUMPY_FORMATS.get(array.dtype.str[1:]) or _NUMPY_FORMATS.get(f"u{size}")
    if kind is None:
        raise WarploomError(f"a tensor map describes elements of 1, 2, 4 or 8 bytes, not {array.dtype}.")
    if swizzle and swizzle not in _PIECES[1:]:
        raise WarploomError(f"a tensor map exchanges pieces within 32, 64 or 128 bytes, or not at all (0), not within {swizzle}.")
    tensor = Tensor(
        kind,
        array.address,
        array.shape[::-1],
        [int(stride) for stride in np.cumprod(array.shape[:0:-1], dtype=np.int64) * size],
        tuple(steps)[::-1] if steps is not None else (1,) * len(array.shape),
        _PIECES.index(swizzle) if swizzle else 0,
        nan=nan,
    )
    return tiled(tensor, tuple(box)[::-1])


def _check(tensor: Tensor, what: str, axes: Sequence[int], *given: Sequence[int]) -> None:
    """What the driver refuses, whatever is brought."""
    dimensions, aligned = len(tensor.sizes), 32 if tensor.interleave == _BY_32_BYTES else 16
    if not 1 <= dimensions <= MOST_DIMENSIONS or any(len(each) != len(axes) for each in given) or len(tensor.steps) != dimensions:
        raise WarploomError(
            f"a tensor map over the sizes {tuple(tensor.sizes)} needs a {what} of {len(axes)} axes and as many steps as sizes; "
            f"it has one to {MOST_DIMENSIONS} dimensions."
        )
    if any(not 1 <= size <= _MOST_SIZE for size in tensor.sizes):
        raise WarploomError(f"the sizes {tuple(tensor.sizes)} of a tensor map lie outside of 1 to 2**32.")
    if tensor.address % aligned or any(stride % aligned or not 0 <= stride < _MOST_STRIDE for stride in tensor.strides):
        raise WarploomError(
            f"a tensor at {tensor.address:#x} with rows {tuple(tensor.strides)} bytes apart does not fit a tensor map: each "
            f"has to be a multiple of {aligned}, and rows less than 2**40 apart."
        )
    if any(not 1 <= step <= MOST_STEP for step in tensor.steps):
        raise WarploomError(f"the steps {tuple(tensor.steps)} of a tensor map lie outside of 1 to {MOST_STEP}.")
    if tensor.interleave and (dimensions < 3 or tensor.interleave > _BY_32_BYTES):
        raise WarploomError("a tensor map in an interleaved layout has three dimensions or more, and pieces of 16 or 32 bytes.")
    if tensor.nan and tensor.format < Format.F16:
        raise WarploomError(f"a tensor map reads NaNs outside of floating-point numbers alone, not of {tensor.format.name}.")
    if tensor.swizzle >= len(_PIECES) or tensor.promotion > 3:
        raise WarploomError(f"a tensor map has no swizzle {tensor.swizzle} or no promotion {tensor.promotion}.")


def _check_row(tensor: Tensor, elements: int, what: str) -> None:
    """A row of a tile is made of pieces of 16 bytes, and lies within those that are exchanged."""
    size, most = elements * ELEMENT_BYTES[tensor.format], _PIECES[tensor.swizzle]
    if tensor.interleave:
        return
    if size % 16:
        raise WarploomError(f"{what} has {size} bytes; a multiple of 16 is needed.")
    if tensor.swizzle and size > most:
        raise WarploomError(f"{what} has {size} bytes, more than the {most} within which pieces are exchanged.")


def _packed(values: Sequence[int], bits: int, base: int) -> int:
    """Several small numbers side by side."""
    mask = (1 << bits) - 1
    return sum((value - base & mask) << bits * at for at, value in enumerate(values))


def _map(tensor: Tensor, columns: int, first: int, second: int, third: int, elements: int) -> bytes:
    """All fields in their places; `first` to `third` say what is brought, and how."""
    brought = elements * ELEMENT_BYTES[tensor.format]
    if brought > _MOST_TILE_BYTES:
        raise WarploomError(f"a tile of a tensor map has {brought:,} bytes; the most is {_MOST_TILE_BYTES:,}.")
    head = columns | len(tensor.sizes) - 1 << 4 | tensor.format << 7 | tensor.interleave << 11 | tensor.swizzle << 13
    head |= tensor.nan << 15 | tensor.rounded << 16 | tensor.promotion << 17
    strides = [stride // 16 for stride in tensor.strides] + [0] * (MOST_DIMENSIONS - 1 - len(tensor.strides))
    sizes = [size - 1 for size in tensor.sizes] + [0] * (MOST_DIMENSIONS - len(tensor.sizes))
    low, high = [stride & 0xFFFFFFFF for stride in strides], _packed([stride >> 32 for stride in strides], 4, 0)
    words = struct.pack("<QI4II5IIIII", tensor.address, head, *low, high, *sizes, first, second, third, brought)
    return (words + struct.pack("<4xI", _ALIGNMENTS[tensor.swizzle])).ljust(MAP_BYTES, b"\0")
