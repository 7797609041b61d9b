"""Operations on all 32 lanes of a warp at once, written as LLVM vector code.

A row is a register of a whole warp: 32 words of 32 bits, 128 bytes. An operation reads its rows as LLVM vectors, computes, and
only then stores, so a destination may also be a source. One family of operations becomes one function with a ``switch``: no
loops for LLVM to vectorise, hence fast code after a short compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from llvmlite.ir import IRBuilder as Builder
from llvmlite.ir import Value as Vector
from numba import types
from numba.core import cgutils

from warploom.base.records import Lanes
from warploom.compiler.code.lanes import LANES
from warploom.jit import callee, intrinsic

ROW_BYTES = 128
BIT, WORD, LONG = ir.IntType(1), ir.IntType(32), ir.IntType(64)
I1, I8, I16 = (ir.VectorType(ir.IntType(bits), LANES) for bits in (1, 8, 16))
I32, I64 = ir.VectorType(WORD, LANES), ir.VectorType(LONG, LANES)
F32, F64 = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(ir.DoubleType(), LANES)
_TYPES = {"i": I32, "l": I64, "f": F32, "d": F64, "p": I1}
_SUFFIXES = {I1: "v32i1", I32: "v32i32", I64: "v32i64", F32: "v32f32", F64: "v32f64"}


class LaneOperation(NamedTuple):
    """``reads`` and ``writes`` are letters: i and l integers of 32 and 64 bits, f and d floats, p a predicate."""

    name: str
    reads: str
    writes: str
    emit: Callable[..., Any]


def constant(kind: ir.VectorType, value: float) -> ir.Constant:
    """The same number in every lane."""
    return ir.Constant(kind, [value] * LANES)


def call(builder: Builder, name: str, *arguments: Vector, suffix: bool = True) -> Vector:
    """Call an LLVM intrinsic that works on vectors of its first argument's type."""
    kind = arguments[0].type
    full = f"{name}.{_SUFFIXES[kind]}" if suffix else name
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [a.type for a in arguments]), full)
    return builder.call(function, arguments)


def load_words(builder: Builder, address: ir.Value) -> Vector:
    """A row, from its address as an integer."""
    return builder.load(builder.inttoptr(address, I32.as_pointer()), align=4)


def store_words(builder: Builder, value: Vector, address: ir.Value) -> None:
    builder.store(value, builder.inttoptr(address, I32.as_pointer()), align=4)


def _next_row(builder: Builder, address: ir.Value) -> ir.Value:
    return builder.add(address, LONG(ROW_BYTES))


def load_lanes(builder: Builder, letter: str, address: ir.Value) -> Vector:
    """A value of every lane: one row, or for 64 bits a row of low words and one of high words after it."""
    low = load_words(builder, address)
    if letter in "if":
        return low if letter == "i" else builder.bitcast(low, F32)
    high = load_words(builder, _next_row(builder, address))
    wide = builder.or_(builder.zext(low, I64), builder.shl(builder.zext(high, I64), constant(I64, 32)))
    return wide if letter == "l" else builder.bitcast(wide, F64)


def store_lanes(builder: Builder, letter: str, value: Vector, address: ir.Value) -> None:
    """The reverse of `load_lanes`."""
    if letter in "if":
        store_words(builder, value if letter == "i" else builder.bitcast(value, I32), address)
        return
    wide = value if letter == "l" else builder.bitcast(value, I64)
    store_words(builder, builder.trunc(wide, I32), address)
    store_words(builder, builder.trunc(builder.lshr(wide, constant(I64, 32)), I32), _next_row(builder, address))


def _emit(builder: Builder, operation: LaneOperation, sources: list[ir.Value], out: ir.Value, predicate: ir.Value) -> ir.Value:
    """One operation: load, compute, store. Returns the predicate that it yields, as a mask."""
    operands = []
    places = iter(sources)
    for letter in operation.reads:
        if letter == "p":
            operands.append(builder.bitcast(predicate, I1))
        else:
            operands.append(load_lanes(builder, letter, next(places)))
    results = operation.emit(builder, *operands)
    mask: ir.Value = WORD(0)
    for letter, value in zip(operation.writes, results if isinstance(results, tuple) else (results,), strict=True):
        if letter == "p":
            mask = builder.bitcast(value, WORD)
        else:
            store_lanes(builder, letter, value, out)
    return mask


Execute = Callable[[int, int, int, int, int, int, Lanes], Lanes]


def family(operations: list[LaneOperation]) -> Execute:
    """A function ``(number, a, b, c, d, out, predicate) -> predicate`` that executes operation ``number`` of the list.

    The operands are the addresses of rows; the predicate is a mask of lanes.
    """

    def switch(_typing: Any, number: Any, a: Any, b: Any, c: Any, d: Any, out: Any, predicate: Any) -> Any:
        signature = types.uint32(*(types.int64,) * 6, types.uint32)

        def generate(_context: Any, builder: Builder, _signature: Any, arguments: Any) -> ir.Value:
            chosen, *sources, target, mask = arguments
            end = builder.append_basic_block("end")
            choice = builder.switch(chosen, end)
            results = [(WORD(0), builder.block)]
            for number, operation in enumerate(operations):
                block = builder.append_basic_block(operation.name)
                choice.add_case(LONG(number), block)
                builder.position_at_end(block)
                results.append((_emit(builder, operation, sources, target, mask), builder.block))
                builder.branch(end)
            builder.position_at_end(end)
            joined = builder.phi(WORD)
            for value, block in results:
                joined.add_incoming(value, block)
            return joined

        return signature, generate

    chosen = intrinsic(switch)

    @callee
    def execute(number: int, a: int, b: int, c: int, d: int, out: int, predicate: Lanes) -> Lanes:
        return chosen(number, a, b, c, d, out, predicate)

    return execute
