"""Kernels that are written in Python for ``numba.cuda``: compiled to PTX for the types of their arguments; no GPU is needed.

Numba passes an array as seven words or more: two that are zero here, the number of elements, the bytes of one, the address,
then each extent and each stride.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warploom.base.errors import WarploomError

_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\(")
_CAPABILITY = (7, 5)  # of the PTX that Numba is asked for; ptxas and drivers take it for any later chip


def compile_numba(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[str, str]:
    """PTX of a kernel for arguments of these types, and the kernel's name in it."""
    name = getattr(function, "__name__", "kernel")
    try:
        from numba import cuda
    except ImportError:
        raise WarploomError(_advice(name, "numba has no CUDA part")) from None
    types = tuple(_type(each, f"{name}: argument {number}") for number, each in enumerate(arguments))
    fast = bool(getattr(function, "targetoptions", {}).get("fastmath"))
    try:
        text, _ = cuda.compile_ptx(getattr(function, "py_func", function), types, cc=_CAPABILITY, fastmath=fast)
    except Exception as problem:  # Numba's own errors, and those of a missing NVVM
        raise WarploomError(_advice(name, str(problem).strip().splitlines()[0])) from None
    found = _ENTRY.search(text)
    if found is None:
        raise WarploomError(_advice(name, "its PTX has no kernel"))
    return text, found[1]


def types_key(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """What Numba's code depends on of the arguments."""
    return tuple((str(each.dtype), len(each.shape)) if _is_array(each) else str(_scalar(each).dtype) for each in arguments)


def flattened(arguments: Sequence[Any]) -> list[np.generic]:
    """The words that Numba's kernels take in place of the arguments."""
    words: list[np.generic] = []
    for each in arguments:
        if not _is_array(each):
            scalar = _scalar(each)
            words.append(np.uint8(scalar) if scalar.dtype == np.bool_ else scalar)
            continue
        strides = [each.dtype.itemsize * int(np.prod(each.shape[axis + 1 :], dtype=np.int64)) for axis in range(len(each.shape))]
        elements = int(np.prod(each.shape, dtype=np.int64))
        numbers = (elements, each.dtype.itemsize, each.address, *each.shape, *strides)
        words += [np.int64(0), np.int64(0), *map(np.int64, numbers)]
    return words


def _is_array(argument: Any) -> bool:
    return hasattr(argument, "address") and hasattr(argument, "shape")


def _scalar(argument: Any) -> Any:
    """A number with the type that Numba gives it: Python's own have 64 bits."""
    return argument if isinstance(argument, np.generic) else np.asarray(argument)[()]


def _type(argument: Any, place: str) -> Any:
    from numba import types
    from numba.np.numpy_support import from_dtype

    if _is_array(argument):
        return types.Array(from_dtype(argument.dtype), len(argument.shape), "C")
    scalar = _scalar(argument)
    dtype: Any = getattr(scalar, "dtype", None)
    if not isinstance(scalar, np.number | np.bool_):
        raise WarploomError(f"{place}: give an array or a number to a kernel of Numba, not {type(argument).__name__}.")
    return from_dtype(dtype)


def _advice(name: str, problem: str) -> str:
    return (
        f"{name}: Numba cannot compile this kernel ({problem}); it needs NVVM, from a CUDA toolkit or with: "
        "pip install 'warploom[numba-kernels]'."
    )
