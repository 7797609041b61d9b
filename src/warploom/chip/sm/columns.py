"""The trace's columns as compiled code reads them: by address.

``ctx.trace`` is a record of addresses instead of a tuple of arrays. A tuple of arrays would be passed to every function as a
hundred values, each array with a reference count to keep, which costs compile time and run time; a record is one pointer.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from warploom.base.records import Lanes, dtype_of, field_names
from warploom.chip.sm.context import Columns, Context
from warploom.jit import inlined, intrinsic

DEAD_WRITE = 8  # in the column `last`, the bit of the first write
NAMES = field_names(Columns)
COLUMNS_DTYPE = dtype_of(Columns)


def columns_record(arrays: dict[str, np.ndarray]) -> Any:
    """The addresses of contiguous columns; the caller keeps the arrays alive."""
    record = np.zeros(1, COLUMNS_DTYPE).view(np.recarray)[0]
    for name in NAMES:
        assert arrays[name].flags.c_contiguous
        record[name] = arrays[name].ctypes.data
    return record


def _loader(bits: int, python_type: Any) -> Any:
    """A function (address, index) -> value that reads an element of 16, 32 or 64 bits."""
    size = bits // 8
    result = types.int64

    @intrinsic
    def load(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            base = builder.inttoptr(args[0], ir.IntType(bits).as_pointer())
            value = builder.load(builder.gep(base, [args[1]]))
            return value if bits == 64 else builder.zext(value, ir.IntType(64))

        return result(types.int64, types.int64), generate

    def plain(address: int, index: int) -> int:
        return python_type.from_address(int(address) + size * int(index)).value

    @inlined(stands_for=plain)
    def _(address: Any, index: Any) -> Any:
        return load(address, index)

    return plain


_load16 = _loader(16, ctypes.c_uint16)
_load32 = _loader(32, ctypes.c_uint32)
_load64 = _loader(64, ctypes.c_int64)


@inlined
def pc_at(ctx: Context, index: int) -> int:
    """The address of a dynamic instruction."""
    return _load16(ctx.trace.pc, index)


@inlined
def mask_at(ctx: Context, index: int) -> Lanes:
    """The lanes that execute it."""
    return np.uint32(_load32(ctx.trace.mask, index))


@inlined
def last_at(ctx: Context, index: int) -> int:
    """Which values end here: bit n, read n is the last of its value; bit DEAD_WRITE + n, nobody reads the value of write n."""
    return _load16(ctx.trace.last, index)


@inlined
def value_at(ctx: Context, index: int) -> np.uint32:
    """An entry of the value column (`warploom.emulator.trace.format`)."""
    return np.uint32(_load32(ctx.trace.value, index))


@inlined
def memory_at(ctx: Context, index: int) -> int:
    """An entry of the memory column."""
    return _load16(ctx.trace.memory, index)


@inlined
def sector_at(ctx: Context, index: int) -> int:
    """A sector that a memory instruction touches."""
    return _load32(ctx.trace.sector, index)


@inlined
def lanes_at(ctx: Context, index: int) -> int:
    """The lanes that touch it."""
    return _load32(ctx.trace.lanes, index)


@inlined
def start_at(ctx: Context, warp: int, column: int) -> int:
    """Where a warp's stream starts: column 0 = instructions, 1 = values, 2 = memory, 3 = sectors."""
    return _load64(ctx.trace.start, 4 * warp + column)
