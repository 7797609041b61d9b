"""Floating-point operations of SASS that PTX does not have: signs that operands change on their way in."""

from __future__ import annotations

from collections.abc import Iterator

from warploom.emulator.float_operations import FLOAT32, FLOAT64
from warploom.emulator.lanes import F32, F64, I32, I64, Builder, LaneOperation, Vector, constant, family
from warploom.jit import callee

_INTEGER = {F32: I32, F64: I64}
_SIGN = {F32: 0x80000000, F64: 0x8000000000000000}


def _flip(b: Builder, x: Vector) -> Vector:
    kind = _INTEGER[x.type]
    return b.bitcast(b.xor(b.bitcast(x, kind), constant(kind, _SIGN[x.type])), x.type)


def _magnitude(b: Builder, x: Vector) -> Vector:
    kind = _INTEGER[x.type]
    return b.bitcast(b.and_(b.bitcast(x, kind), constant(kind, _SIGN[x.type] - 1)), x.type)


def _operations() -> Iterator[LaneOperation]:
    for kind, letter, table in (("f32", "f", FLOAT32), ("f64", "d", FLOAT64)):
        fma = next(operation for operation in table if operation.name == f"fma.{kind}").emit
        yield LaneOperation(f"flip.{kind}", letter, letter, _flip)
        yield LaneOperation(f"magnitude.{kind}", letter, letter, _magnitude)
        yield LaneOperation(f"fma.-p.{kind}", letter * 3, letter, lambda b, x, y, z, f=fma: f(b, _flip(b, x), y, z))
        yield LaneOperation(f"fma.-c.{kind}", letter * 3, letter, lambda b, x, y, z, f=fma: f(b, x, y, _flip(b, z)))
        yield LaneOperation(
            f"fma.-p.-c.{kind}", letter * 3, letter, lambda b, x, y, z, f=fma: f(b, _flip(b, x), y, _flip(b, z))
        )


FLOATS = list(_operations())
_floats = family(FLOATS)


@callee
def floats(number, a, b, c, d, out, predicate):
    """Execute one operation of `FLOATS`; operands are addresses of rows."""
    return _floats(number, a, b, c, d, out, predicate)
