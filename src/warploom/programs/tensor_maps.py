"""Tensor maps that a program asks the driver for."""

from __future__ import annotations

import numpy as np

from warploom.base.errors import WarploomError
from warploom.emulator.sass.tensor_map import DRIVER_TYPES, MOST_DIMENSIONS, Tensor, im2col, tiled

_DESCRIBED = np.dtype(
    [(name, "u8") for name in ("columns", "type", "dimensions", "address", "interleave", "swizzle", "promotion", "nan")]
    + [(name, "u8") for name in ("channels", "pixels")]
    + [(name, "u8", (MOST_DIMENSIONS,)) for name in ("sizes", "strides", "steps")]
    + [(name, "i8", (MOST_DIMENSIONS,)) for name in ("box", "upper")]
)  # as the library in the program sends it: ``driver/tensor_maps.c``


def map_of(described: bytes) -> bytes:
    """The map of what a program describes in the driver's numbers."""
    given = np.frombuffer(described, _DESCRIBED)[0]
    count, number = int(given["dimensions"]), int(given["type"])
    if number >= len(DRIVER_TYPES):
        raise WarploomError(f"a tensor map has no elements of type {number}; types up to {len(DRIVER_TYPES) - 1} are known.")
    kind, rounded = DRIVER_TYPES[number]
    sizes, strides, steps, box, upper = (given[name].tolist()[:count] for name in ("sizes", "strides", "steps", "box", "upper"))
    how = {name: int(given[name]) for name in ("swizzle", "interleave", "promotion")}
    tensor = Tensor(
        kind, int(given["address"]), sizes, strides[: count - 1], steps, **how, nan=bool(given["nan"]), rounded=rounded
    )
    if not given["columns"]:
        return tiled(tensor, box)
    return im2col(tensor, box[: count - 2], upper[: count - 2], int(given["channels"]), int(given["pixels"]))
