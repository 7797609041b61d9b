"""How this project uses Numba: compiled once, never stale, put together in a way that compiles fast."""

from warploom.jit.cached import intrinsic, njit, specialised, specialised_anew, whole
from warploom.jit.callees import callee, inlined, make_callable, separate
from warploom.jit.reference import by_reference

__all__ = [
    "by_reference",
    "callee",
    "inlined",
    "intrinsic",
    "make_callable",
    "njit",
    "separate",
    "specialised",
    "specialised_anew",
    "whole",
]
