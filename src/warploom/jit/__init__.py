"""How this project uses Numba: compiled once, never stale, put together in a way that compiles fast."""

from warploom.jit.cached import intrinsic, njit, specialised, specialised_anew, whole
from warploom.jit.linking import callee, make_callable
from warploom.jit.reference import by_reference

__all__ = [
    "by_reference",
    "callee",
    "intrinsic",
    "make_callable",
    "njit",
    "specialised",
    "specialised_anew",
    "whole",
]
