"""Makes the description of a tensor that copies of tiles read; `tensor_maps` has its layout."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warploom.emulator.device_memory import DeviceArray
from warploom.emulator.records import AtomicType
from warploom.emulator.sass.tensor_maps import MAP_BYTES, MAP_DTYPE, MARK, MOST_DIMENSIONS
from warploom.errors import WarploomError

_SWIZZLES = {0: 1, 32: 2, 64: 4, 128: 8}  # bytes, and the 16-byte pieces in them
_MOST_BOX = 256
_KINDS = {"i4": "S32", "u4": "U32", "i8": "S64", "u8": "U64", "f2": "F16X2", "f4": "F32", "f8": "F64"}
_NANS = {2: 0x7FFF, 4: 0x7FFFFFFF, 8: 0x7FFFFFFFFFFFFFFF}


def tensor_map(array: DeviceArray, box: Sequence[int], swizzle: int, steps: Sequence[int] | None, nan: bool) -> bytes:
    """The bytes of a map over an array on the device; shapes have the innermost axis last."""
    dimensions, size = len(array.shape), array.dtype.itemsize
    if not 1 <= dimensions <= MOST_DIMENSIONS or len(box) != dimensions or (steps is not None and len(steps) != dimensions):
        raise WarploomError(
            f"a tensor map over the shape {array.shape} needs a box of as many axes, one to {MOST_DIMENSIONS}, not {tuple(box)}."
        )
    if any(not 1 <= extent <= _MOST_BOX for extent in box):
        raise WarploomError(f"the box {tuple(box)} of a tensor map has extents outside of 1 to {_MOST_BOX}.")
    if swizzle not in _SWIZZLES:
        raise WarploomError(f"a tensor map exchanges pieces within 32, 64 or 128 bytes, or not at all (0), not within {swizzle}.")
    if box[-1] * size % 16:
        raise WarploomError(f"a row of the box {tuple(box)} has {box[-1] * size} bytes; a multiple of 16 is needed.")
    if swizzle and box[-1] * size > swizzle:
        raise WarploomError(
            f"a row of the box has {box[-1] * size} bytes, more than the {swizzle} within which pieces are exchanged."
        )
    made = np.zeros(1, MAP_DTYPE)
    strides = np.cumprod(array.shape[:0:-1], dtype=np.int64) * size
    if any(stride % 16 for stride in strides):
        raise WarploomError(f"rows of the shape {array.shape} do not begin at multiples of 16 bytes.")
    made["mark"], made["dimensions"], made["address"] = MARK, dimensions, array.address
    made["strides"][0, : dimensions - 1] = strides
    made["sizes"][0, :dimensions] = array.shape[::-1]
    made["box"][0, :dimensions] = tuple(box)[::-1]
    made["steps"][0, :dimensions] = tuple(steps)[::-1] if steps is not None else 1
    made["element_bytes"], made["swizzle"] = size, _SWIZZLES[swizzle]
    made["fill"] = _NANS[size] if nan else 0
    made["kind"] = AtomicType[_KINDS.get(array.dtype.str[1:], "U32")]
    return made.tobytes().ljust(MAP_BYTES, b"\0")
