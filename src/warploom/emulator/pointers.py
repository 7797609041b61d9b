"""Loads and stores through plain addresses, and a few operations on whole rows.

The emulated machine's state is many arrays; compiled functions get their addresses in one record instead of dozens of array
arguments. Whoever uses an address has checked it before: against the allocations, or by construction of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from warploom.base.records import Lanes
from warploom.emulator.lanes import I1, I32, I64, LANES, LONG, WORD, load_lanes, load_words, store_words
from warploom.jit import inlined, intrinsic

_KINDS = {
    types.uint8: ir.IntType(8),
    types.uint16: ir.IntType(16),
    types.uint32: ir.IntType(32),
    types.uint64: ir.IntType(64),
    types.float32: ir.FloatType(),
    types.float64: ir.DoubleType(),
}


def _getter(kind: Any) -> Any:
    def get(_typing: Any, address: Any) -> Any:
        def generate(_context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
            return builder.load(builder.inttoptr(arguments[0], _KINDS[kind].as_pointer()), align=1)

        return kind(types.int64), generate

    return intrinsic(get)


def _putter(kind: Any) -> Any:
    def put(_typing: Any, address: Any, value: Any) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
            builder.store(arguments[1], builder.inttoptr(arguments[0], _KINDS[kind].as_pointer()), align=1)
            return context.get_dummy_value()

        return types.none(types.int64, kind), generate

    return intrinsic(put)


get8: Callable[[int], np.uint8] = _getter(types.uint8)
get16: Callable[[int], np.uint16] = _getter(types.uint16)
get32: Callable[[int], np.uint32] = _getter(types.uint32)
get64: Callable[[int], np.uint64] = _getter(types.uint64)
get_f32: Callable[[int], np.float32] = _getter(types.float32)
put8: Callable[[int, np.uint8], None] = _putter(types.uint8)
put16: Callable[[int, np.uint16], None] = _putter(types.uint16)
put32: Callable[[int, np.uint32], None] = _putter(types.uint32)
put64: Callable[[int, np.uint64], None] = _putter(types.uint64)
put_f32: Callable[[int, np.float32], None] = _putter(types.float32)


@inlined
def put_predicate(place: int, lanes: Lanes, value: Lanes) -> None:
    """Give these lanes their bits of a predicate; the others keep theirs."""
    put32(place, (get32(place) & ~lanes) | (value & lanes))


@intrinsic
def copy_row(_typing: Any, target: int, source: int) -> Any:
    """Copy a row of 32 words."""

    def generate(context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
        store_words(builder, load_words(builder, arguments[1]), arguments[0])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), generate


@intrinsic
def restore_lanes(_typing: Any, row: int, old: int, mask: Lanes) -> Any:
    """Give the lanes outside of the mask their old words back."""

    def generate(context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
        row_address, old_address, mask_value = arguments
        lanes = builder.bitcast(mask_value, I1)
        merged = builder.select(lanes, load_words(builder, row_address), load_words(builder, old_address))
        store_words(builder, merged, row_address)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.uint32), generate


@intrinsic
def count_ones(_typing: Any, mask: Lanes) -> Any:
    """How many lanes a mask holds."""

    def generate(_context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
        return builder.zext(builder.ctpop(arguments[0]), LONG)

    return types.int64(types.uint32), generate


@intrinsic
def first_lane(_typing: Any, mask: Lanes) -> Any:
    """The lowest lane of a mask; 32 if it is empty."""

    def generate(_context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
        return builder.zext(builder.cttz(arguments[0], ir.IntType(1)(0)), LONG)

    return types.int64(types.uint32), generate


def _reinterpret(source: Any, target: Any) -> Any:
    def cast(_typing: Any, value: Any) -> Any:
        def generate(_context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
            return builder.bitcast(arguments[0], _KINDS[target])

        return target(source), generate

    return intrinsic(cast)


float_from_bits: Callable[[np.uint32], np.float32] = _reinterpret(types.uint32, types.float32)
bits_from_float: Callable[[np.float32], np.uint32] = _reinterpret(types.float32, types.uint32)
double_from_bits: Callable[[np.uint64], float] = _reinterpret(types.uint64, types.float64)
bits_from_double: Callable[[float], np.uint64] = _reinterpret(types.float64, types.uint64)


@intrinsic
def fill_row(_typing: Any, row: int, word: np.uint32) -> Any:
    """Give all lanes of a row the same word."""

    def generate(context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
        store_words(builder, _spread(builder, arguments[1], I32), arguments[0])
        return context.get_dummy_value()

    return types.none(types.int64, types.uint32), generate


def _spread(builder: ir.IRBuilder, value: ir.Value, kind: ir.VectorType) -> ir.Value:
    """A vector with the same scalar in every lane."""
    single = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(single, single, ir.Constant(I32, [0] * LANES))


@intrinsic
def lane_addresses(_typing: Any, row: int, wide: int, offset: int, out: int) -> Any:
    """Base plus offset for every lane, as 64-bit addresses. A base of 32 bits wraps around at 4 GiB."""

    def generate(context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
        base_row, is_wide, constant_offset, target = arguments
        low = load_words(builder, base_row)
        offsets = _spread(builder, constant_offset, I64)
        place = builder.inttoptr(target, I64.as_pointer())
        with builder.if_else(builder.icmp_signed("!=", is_wide, LONG(0))) as (then, otherwise):
            with then:
                builder.store(builder.add(load_lanes(builder, "l", base_row), offsets), place, align=8)
            with otherwise:
                narrow = builder.add(low, builder.trunc(offsets, I32))
                builder.store(builder.zext(narrow, I64), place, align=8)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def survey_addresses(_typing: Any, addresses: int, mask: Lanes, step: int, out: int) -> Any:
    """Least and greatest address of the lanes in the mask, all their bits or-ed, and whether lane n has the first one + n x step.

    The four answers go to `out`, 64 bits each. At least one lane must be in the mask.
    """

    def generate(context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
        source, mask_value, distance, target = arguments
        every = builder.load(builder.inttoptr(source, I64.as_pointer()), align=8)
        first = builder.cttz(mask_value, ir.IntType(1)(0))
        reference = _spread(builder, builder.extract_element(every, first), I64)
        taken = builder.select(builder.bitcast(mask_value, I1), every, reference)
        answers = []
        for name in ("umin", "umax", "or"):
            function = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(LONG, [I64]), f"llvm.vector.reduce.{name}.v32i64"
            )
            answers.append(builder.call(function, [taken]))
        ramp = builder.mul(ir.Constant(I64, list(range(LANES))), _spread(builder, distance, I64))
        start = _spread(builder, builder.extract_element(every, ir.IntType(32)(0)), I64)
        follows = builder.bitcast(builder.icmp_signed("==", every, builder.add(start, ramp)), ir.IntType(32))
        answers.append(builder.zext(builder.icmp_signed("==", follows, ir.IntType(32)(-1)), LONG))
        for place, answer in enumerate(answers):
            pointer = builder.inttoptr(builder.add(target, LONG(8 * place)), LONG.as_pointer())
            builder.store(answer, pointer)
        return context.get_dummy_value()

    return types.none(types.int64, types.uint32, types.int64, types.int64), generate


def _places(builder: ir.IRBuilder, base: ir.Value, addresses: ir.Value) -> ir.Value:
    """Pointers to base + address of every lane."""
    every = builder.load(builder.inttoptr(addresses, I64.as_pointer()), align=8)
    return builder.inttoptr(builder.add(every, _spread(builder, base, I64)), _POINTERS)


_POINTERS = ir.VectorType(WORD.as_pointer(), LANES)


@intrinsic
def gather_words(_typing: Any, row: int, base: int, addresses: int, mask: Lanes) -> Any:
    """Load a word for each lane of the mask from base + its address; the other lanes of the row stay as they are."""

    def generate(context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
        target, start, places, lanes = arguments
        kind = ir.FunctionType(I32, [_POINTERS, WORD, I1, I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.gather.v32i32.v32p0")
        pointers, old = _places(builder, start, places), load_words(builder, target)
        store_words(builder, builder.call(function, [pointers, WORD(4), builder.bitcast(lanes, I1), old]), target)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64, types.uint32), generate


@intrinsic
def scatter_words(_typing: Any, row: int, base: int, addresses: int, mask: Lanes) -> Any:
    """Store the word of each lane of the mask at base + its address; where two lanes meet, the higher one wins."""

    def generate(context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
        source, start, places, lanes = arguments
        kind = ir.FunctionType(ir.VoidType(), [I32, _POINTERS, WORD, I1])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.scatter.v32i32.v32p0")
        pointers = _places(builder, start, places)
        builder.call(function, [load_words(builder, source), pointers, WORD(4), builder.bitcast(lanes, I1)])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64, types.uint32), generate
