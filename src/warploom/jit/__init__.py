"""How this project uses Numba: compiled once, never stale, put together in a way that compiles fast."""

from warploom.jit.cached import allocation_free, intrinsic, njit, source_digest, specialised, specialised_anew
from warploom.jit.linking import callee, make_callable
from warploom.jit.reference import by_reference

__all__ = [
    "allocation_free",
    "by_reference",
    "callee",
    "intrinsic",
    "make_callable",
    "njit",
    "source_digest",
    "specialised",
    "specialised_anew",
]
