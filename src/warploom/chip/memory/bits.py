"""Small counts on bit masks, in signed arithmetic throughout: Numba turns signed mixed with unsigned 64 bits into floats."""

from __future__ import annotations

import numpy as np

from warploom.jit import callee


@callee
def sectors_in(mask: int) -> int:
    """How many of a line's four sectors a mask names."""
    bits = np.int64(mask)
    return int((bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1) + (bits >> 3 & 1))


@callee
def lanes_in(mask: int) -> int:
    """How many of 32 lanes a mask names."""
    count = 0
    rest = np.int64(mask)
    while rest:
        rest &= rest - 1
        count += 1
    return count
