"""Floating-point operations of SASS that PTX does not have: signs that operands change on their way in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from warploom.emulator.float_operations import FLOAT32, FLOAT64
from warploom.emulator.lanes import F32, F64, I32, I64, Builder, LaneOperation, Vector, constant, family

_INTEGER = {F32: I32, F64: I64}
_SIGN = {F32: 0x80000000, F64: 0x8000000000000000}


def _unless_nan(b: Builder, x: Vector, changed: Vector) -> Vector:
    """A NaN of f64 keeps the sign that it came with; those of f32 lose it in the result anyway."""
    return b.select(b.fcmp_unordered("uno", x, x), x, changed) if x.type is F64 else changed


def _flip(b: Builder, x: Vector) -> Vector:
    kind = _INTEGER[x.type]
    return _unless_nan(b, x, b.bitcast(b.xor(b.bitcast(x, kind), constant(kind, _SIGN[x.type])), x.type))


def _magnitude(b: Builder, x: Vector) -> Vector:
    kind = _INTEGER[x.type]
    return _unless_nan(b, x, b.bitcast(b.and_(b.bitcast(x, kind), constant(kind, _SIGN[x.type] - 1)), x.type))


def _takes_first(b: Builder, x: Vector, y: Vector, least: bool) -> Vector:
    """Whether the lesser (or greater) of two numbers is the first; -0 is less than +0, and a number wins against a NaN."""
    kind = _INTEGER[x.type]
    bits_x, bits_y = b.bitcast(x, kind), b.bitcast(y, kind)
    symbol = "<" if least else ">"
    wins = b.or_(b.fcmp_ordered(symbol, x, y), b.and_(b.fcmp_ordered("==", x, y), b.icmp_signed(symbol, bits_x, bits_y)))
    return b.or_(wins, b.and_(b.fcmp_ordered("ord", x, x), b.fcmp_unordered("uno", y, y)))


def _both_nan(b: Builder, x: Vector, y: Vector) -> Vector:
    return b.and_(b.fcmp_unordered("uno", x, x), b.fcmp_unordered("uno", y, y))


def _operations() -> Iterator[LaneOperation]:
    for kind, letter, table in (("f32", "f", FLOAT32), ("f64", "d", FLOAT64)):
        fma = next(operation for operation in table if operation.name == f"fma.{kind}").emit
        yield LaneOperation(f"flip.{kind}", letter, letter, _flip)
        yield LaneOperation(f"magnitude.{kind}", letter, letter, _magnitude)
        yield LaneOperation(f"take.min.{kind}", letter * 2, "p", partial(_takes_first, least=True))
        yield LaneOperation(f"take.max.{kind}", letter * 2, "p", partial(_takes_first, least=False))
        yield LaneOperation(f"nans.{kind}", letter * 2, "p", _both_nan)
        yield LaneOperation(f"fma.-p.{kind}", letter * 3, letter, lambda b, x, y, z, f=fma: f(b, _flip(b, x), y, z))
        yield LaneOperation(f"fma.-c.{kind}", letter * 3, letter, lambda b, x, y, z, f=fma: f(b, x, y, _flip(b, z)))
        yield LaneOperation(f"fma.-p.-c.{kind}", letter * 3, letter, lambda b, x, y, z, f=fma: f(b, _flip(b, x), y, _flip(b, z)))


FLOATS = list(_operations())
floats = family(FLOATS)
