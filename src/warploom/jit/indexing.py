"""Indices that count from zero only: in code of ours, no index is ever negative.

To Numba a signed index may be negative, and then counts from the end; it asks so at every access of an array, which took a
twentieth of the timing core's time. Functions that are put together by `warploom.jit.linking` are compiled without the question.
Everything else in the process, a user's own functions among it, is compiled as before.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.base import BaseContext
from numba.np import arrayobj

from warploom.jit.linking import CalleeLibrary, WholeLibrary

# What is used here besides what the imports name.
INNER_PARTS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (arrayobj, ("fix_integer_index",)),
    (BaseContext, ("active_code_library", "cast")),
)


def install() -> None:
    """Change it for this process."""
    module: Any = arrayobj
    from_both_ends = module.fix_integer_index

    def fixed(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        ours = isinstance(context.active_code_library, CalleeLibrary | WholeLibrary)
        if ours and not isinstance(index, ir.Constant):  # asking about a constant costs nothing
            return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)
        return from_both_ends(context, builder, kind, index, size)

    module.fix_integer_index = fixed
