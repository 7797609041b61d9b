"""How large a grid, a cluster and a block may be: CUDA's own limits, of every compute capability from 3.0 on."""

from __future__ import annotations

import math

Shape = tuple[int, int, int]

MOST: dict[str, Shape] = {"grid": (2**31 - 1, 65535, 65535), "block": (1024, 1024, 64), "cluster": (16, 16, 16)}
MOST_THREADS = 1024  # of a block


def extent_problem(what: str, shape: Shape) -> str:
    """A clause that says why a grid or cluster (of blocks) or a block (of threads) is too large; empty if it is not."""
    unit = "threads" if what == "block" else "blocks"
    for axis, number, most in zip("xyz", shape, MOST[what], strict=True):
        if number > most:
            return f"a {what} has at most {most} {unit} along {axis}, this one has {number}"
    if what == "block" and math.prod(shape) > MOST_THREADS:
        return f"a block has at most {MOST_THREADS} threads, this one has {math.prod(shape)}"
    return ""
