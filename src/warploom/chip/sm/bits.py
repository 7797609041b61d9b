"""Sets of warps, registers and lanes as bit masks of 64 bits.

A mask is always ``uint64``. Mixing it with signed integers would make Numba (as NumPy) turn both into floats, so masks are made,
tested and searched with these functions only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from warploom.base.records import Lanes, Mask
from warploom.jit import inlined, intrinsic

NOTHING = np.uint64(0)
EVERYTHING = np.uint64(0xFFFFFFFFFFFFFFFF)
signed: Any = np.int64  # makes an unsigned number a signed one; to a type checker it is then a number like others


@inlined
def bit(position: int) -> np.uint64:
    """The mask with one bit set."""
    return np.uint64(1) << np.uint64(position)


@inlined
def has(mask: np.uint64, position: int) -> bool:
    """Whether a bit is set."""
    return (mask >> np.uint64(position)) & np.uint64(1) != NOTHING


@inlined
def below(position: int) -> np.uint64:
    """The mask of all bits under a position (0 to 63)."""
    return (np.uint64(1) << np.uint64(position)) - np.uint64(1)


@inlined
def without_lowest(mask: np.uint64) -> np.uint64:
    """The mask less its lowest set bit: ``while mask != NOTHING: n = lowest(mask); mask = without_lowest(mask)``."""
    return mask & (mask - np.uint64(1))


@intrinsic
def _ctz(typing_context: Any, mask: Mask) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def _ctpop(typing_context: Any, mask: Mask) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


@intrinsic
def _ctlz(typing_context: Any, mask: Mask) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


def highest(mask: np.uint64 | int) -> int:
    """The position of the highest set bit; -1 for an empty mask."""
    return int(mask).bit_length() - 1


@inlined(stands_for=highest)
def _highest(mask: Lanes) -> Any:
    return 63 - _ctlz(np.uint64(mask))


def lowest(mask: np.uint64) -> int:
    """The position of the lowest set bit; 64 for an empty mask."""
    value = int(mask)
    return (value & -value).bit_length() - 1 if value else 64


def count(mask: np.uint64) -> int:
    """How many bits are set."""
    return int(mask).bit_count()


@inlined(stands_for=lowest)
def _lowest(mask: Lanes) -> Any:
    return _ctz(np.uint64(mask))


@inlined(stands_for=count)
def _count(mask: Lanes) -> Any:
    return _ctpop(np.uint64(mask))


@inlined
def next_after(mask: np.uint64, position: int) -> int:
    """The first set bit after a position, going round; the mask must not be empty. The round robin of everything here."""
    if position < 63:
        later = mask & ~below(position + 1)
        if later != NOTHING:
            return lowest(later)
    return lowest(mask)
