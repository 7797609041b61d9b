"""Rounding up, down and toward zero, without telling the processor to round so.

LLVM takes it for granted that the processor rounds to nearest, and may fold, split or replace floating-point code accordingly.
Here everything is rounded to nearest. An operation gives its nearest result; whether the exact result lies above or below it is
then found exactly, and the result moves to its neighbour on that side if the mode asks for it. The last operand of each operation
is the mode. This also needs nothing of the processor but IEEE arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from warploom.emulator.float_operations import fused, plain, reciprocal, square_root
from warploom.emulator.lanes import F32, F64, I32, I64, Builder, LaneOperation, Vector, call, constant, family

ROUNDINGS = {"rz": 0, "rp": 1, "rm": 2}
_INTEGER = {F32: I32, F64: I64}
_TOP_BIT = {F32: 31, F64: 63}
_INFINITY = float("inf")
_BIAS, _MANTISSA_BITS = 1023, 52
_NEGLIGIBLE = -200  # of the larger term's exponent: a smaller term only tells on which side of a number the sum lies


class _Side(NamedTuple):
    """Where the exact result is greater than the nearest one, and where it is less."""

    above: Vector
    below: Vector

    def where(self, b: Builder, condition: Vector) -> _Side:
        return _Side(b.and_(self.above, condition), b.and_(self.below, condition))

    def reversed_where(self, b: Builder, condition: Vector) -> _Side:
        return _Side(b.select(condition, self.below, self.above), b.select(condition, self.above, self.below))


# --- exact sums and products ---------------------------------------------------------------------------------------------------


def _sum(b: Builder, x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """The nearest sum of two f64 and its error, which an f64 always holds (Knuth's TwoSum; nothing may overflow)."""
    total = b.fadd(x, y)
    of_y = b.fsub(total, x)
    of_x = b.fsub(total, of_y)
    return total, b.fadd(b.fsub(x, of_x), b.fsub(y, of_y))


def _is_negative(b: Builder, x: Vector) -> Vector:
    kind = _INTEGER[x.type]
    return b.icmp_signed("<", b.bitcast(x, kind), constant(kind, 0))


def _is_finite(b: Builder, *numbers: Vector) -> Vector:
    magnitudes = [b.fcmp_ordered("<", call(b, "llvm.fabs", x), constant(x.type, _INFINITY)) for x in numbers]
    result = magnitudes[0]
    for magnitude in magnitudes[1:]:
        result = b.and_(result, magnitude)
    return result


def _is_zero(b: Builder, x: Vector) -> Vector:
    return b.fcmp_ordered("==", x, constant(x.type, 0.0))


def _compared(b: Builder, total: Vector, error: Vector, result: Vector) -> _Side:
    """Where total + error lies, `total` being the f64 nearest to it, as seen from a result that is an f64 too."""
    same, zero = b.fcmp_ordered("==", total, result), constant(F64, 0.0)
    above = b.or_(b.fcmp_ordered(">", total, result), b.and_(same, b.fcmp_ordered(">", error, zero)))
    below = b.or_(b.fcmp_ordered("<", total, result), b.and_(same, b.fcmp_ordered("<", error, zero)))
    return _Side(above, below)


def _power(b: Builder, exponent: Vector) -> Vector:
    """2 ** exponent, for exponents of normal numbers."""
    return b.bitcast(b.shl(b.add(exponent, constant(I64, _BIAS)), constant(I64, _MANTISSA_BITS)), F64)


def _scaled(b: Builder, x: Vector, exponent: Vector) -> Vector:
    """x * 2 ** exponent, where f64 holds that exactly; in four steps since the whole factor may be beyond f64."""
    quarter = b.ashr(exponent, constant(I64, 2))
    rest = b.sub(exponent, b.mul(quarter, constant(I64, 3)))
    for step in (quarter, quarter, quarter, rest):
        x = b.fmul(x, _power(b, step))
    return x


def _split(b: Builder, x: Vector) -> tuple[Vector, Vector]:
    """A finite number as (m, e) with x = m * 2 ** e and 1 <= |m| < 2; zero is (0, 0)."""
    bits = b.bitcast(x, I64)
    field = b.and_(b.lshr(bits, constant(I64, _MANTISSA_BITS)), constant(I64, 0x7FF))
    subnormal = b.icmp_signed("==", field, constant(I64, 0))
    raised = b.bitcast(b.fmul(x, constant(F64, 2.0**64)), I64)
    bits = b.select(subnormal, raised, bits)
    field = b.and_(b.lshr(bits, constant(I64, _MANTISSA_BITS)), constant(I64, 0x7FF))
    exponent = b.sub(field, b.select(subnormal, constant(I64, _BIAS + 64), constant(I64, _BIAS)))
    unit = b.or_(b.and_(bits, constant(I64, ~(0x7FF << _MANTISSA_BITS))), constant(I64, _BIAS << _MANTISSA_BITS))
    zero = _is_zero(b, x)
    return b.select(zero, x, b.bitcast(unit, F64)), b.select(zero, constant(I64, 0), exponent)


def _odd_sum(b: Builder, x: Vector, y: Vector) -> Vector:
    """The sum of two f64; an inexact one becomes the neighbour whose last bit is 1, which no later rounding takes for exact."""
    total, error = _sum(b, x, y)
    bits = b.bitcast(total, I64)
    even = b.icmp_signed("==", b.and_(bits, constant(I64, 1)), constant(I64, 0))
    inexact = b.fcmp_ordered("!=", error, constant(F64, 0.0))
    outward = b.icmp_signed("==", _is_negative(b, total), _is_negative(b, error))
    moved = b.add(bits, b.select(outward, constant(I64, 1), constant(I64, -1)))
    return b.bitcast(b.select(b.and_(even, inexact), moved, bits), F64)


def _side(b: Builder, x: Vector, y: Vector, z: Vector, result: Vector) -> _Side:
    """Where x * y + z lies as seen from `result`, for finite numbers of one type, exactly."""
    if x.type is F32:  # f64 holds the product of two f32, and no sum of such numbers leaves its range
        x, y, z, result = (b.fpext(value, F64) for value in (x, y, z, result))
        return _compared(b, *_sum(b, b.fmul(x, y), z), result)
    (x, x_exponent), (y, y_exponent), (z, z_exponent) = (_split(b, value) for value in (x, y, z))
    least = constant(I64, -4000)  # what is zero does not decide how all is scaled
    no_product = b.or_(_is_zero(b, x), _is_zero(b, y))
    product_exponent = b.select(no_product, least, b.add(x_exponent, y_exponent))
    z_exponent = b.select(_is_zero(b, z), least, z_exponent)
    largest = call(b, "llvm.smax", product_exponent, z_exponent)
    nothing = b.icmp_signed("==", largest, least)
    largest = b.select(nothing, constant(I64, 0), largest)

    def relative(number: Vector, exponent: Vector) -> Vector:
        return b.fmul(number, _power(b, call(b, "llvm.smax", b.sub(exponent, largest), constant(I64, _NEGLIGIBLE))))

    x, z = relative(x, product_exponent), relative(z, z_exponent)
    product = b.fmul(x, y)
    product_error = call(b, "llvm.fma", x, y, b.fneg(product))
    # Three terms with one rounding, as Boldo and Melquiond emulate an fma: the last but one sum is rounded to odd.
    low, low_error = _sum(b, z, product_error)
    high, high_error = _sum(b, product, low)
    total, error = _sum(b, high, _odd_sum(b, high_error, low_error))
    return _compared(b, total, error, _scaled(b, result, b.sub(constant(I64, 0), largest)))


# --- operations ----------------------------------------------------------------------------------------------------------------


def _moved(b: Builder, nearest: Vector, side: _Side, mode: Vector) -> Vector:
    """The result in the mode's direction: the nearest one or its neighbour."""
    kind = _INTEGER[nearest.type]
    negative = _is_negative(b, nearest)
    asked = {name: b.icmp_signed("==", mode, constant(I32, number)) for name, number in ROUNDINGS.items()}
    up = b.and_(side.above, b.or_(asked["rp"], b.and_(asked["rz"], negative)))
    down = b.and_(side.below, b.or_(asked["rm"], b.and_(asked["rz"], b.not_(negative))))
    outward = b.select(negative, down, up)
    bits = b.bitcast(nearest, kind)
    step = b.select(outward, constant(kind, 1), constant(kind, -1))
    return b.bitcast(b.select(b.or_(up, down), b.add(bits, step), bits), nearest.type)


def _beyond(b: Builder, nearest: Vector, side: _Side) -> _Side:
    """What was too large for a finite result lies below infinity, above minus infinity."""
    infinite = b.fcmp_ordered("==", call(b, "llvm.fabs", nearest), constant(nearest.type, _INFINITY))
    negative = _is_negative(b, nearest)
    return _Side(b.select(infinite, negative, side.above), b.select(infinite, b.not_(negative), side.below))


def _zero_sum(b: Builder, nearest: Vector, first: Vector, second: Vector, exact: Vector, mode: Vector) -> Vector:
    """Two terms that cancel give -0 when rounding down; the terms are given by whether they are negative."""
    kind = _INTEGER[nearest.type]
    down = b.icmp_signed("==", mode, constant(I32, ROUNDINGS["rm"]))
    minus = b.and_(b.and_(exact, _is_zero(b, nearest)), b.and_(down, b.or_(first, second)))
    negative_zero = constant(kind, -1 << _TOP_BIT[nearest.type])
    return b.bitcast(b.select(minus, negative_zero, b.bitcast(nearest, kind)), nearest.type)


def _fma(b: Builder, x: Vector, y: Vector, z: Vector, mode: Vector, nearest: Vector | None = None) -> Vector:
    nearest = fused(b, x, y, z) if nearest is None else nearest
    finite = _is_finite(b, x, y, z)
    side = _beyond(b, nearest, _side(b, x, y, z, nearest)).where(b, finite)
    exact = b.and_(finite, b.not_(b.or_(side.above, side.below)))
    moved = _moved(b, nearest, side, mode)
    return _zero_sum(b, moved, b.xor(_is_negative(b, x), _is_negative(b, y)), _is_negative(b, z), exact, mode)


def _add(b: Builder, x: Vector, y: Vector, mode: Vector) -> Vector:
    return _fma(b, x, constant(x.type, 1.0), y, mode, plain(b, x, y, "fadd"))


def _subtract(b: Builder, x: Vector, y: Vector, mode: Vector) -> Vector:
    return _fma(b, x, constant(x.type, 1.0), b.fneg(y), mode, plain(b, x, y, "fsub"))


def _multiply(b: Builder, x: Vector, y: Vector, mode: Vector) -> Vector:
    nearest = plain(b, x, y, "fmul")
    side = _beyond(b, nearest, _side(b, x, y, constant(x.type, 0.0), nearest))
    return _moved(b, nearest, side.where(b, _is_finite(b, x, y)), mode)


def _quotient(b: Builder, x: Vector, y: Vector, nearest: Vector, mode: Vector) -> Vector:
    """The quotient lies above the nearest one where x exceeds nearest * y, if y is positive."""
    remainder = _side(b, b.fneg(nearest), y, x, constant(x.type, 0.0))
    side = _beyond(b, nearest, remainder.reversed_where(b, _is_negative(b, y)))
    usual = b.and_(_is_finite(b, x, y), b.not_(_is_zero(b, y)))
    return _moved(b, nearest, side.where(b, usual), mode)


def _divide(b: Builder, x: Vector, y: Vector, mode: Vector) -> Vector:
    return _quotient(b, x, y, plain(b, x, y, "fdiv"), mode)


def _reciprocal(b: Builder, x: Vector, mode: Vector) -> Vector:
    return _quotient(b, constant(x.type, 1.0), x, reciprocal(b, x), mode)


def _square_root(b: Builder, x: Vector, mode: Vector) -> Vector:
    """The root lies above the nearest one where x exceeds the square of that."""
    nearest = square_root(b, x)
    side = _side(b, b.fneg(nearest), nearest, x, constant(x.type, 0.0))
    return _moved(b, nearest, side.where(b, _is_finite(b, nearest)), mode)


def _narrow(b: Builder, x: Vector, mode: Vector) -> Vector:
    nearest = b.fptrunc(x, F32)
    return _moved(b, nearest, _compared(b, x, constant(F64, 0.0), b.fpext(nearest, F64)), mode)


def _from_integer(b: Builder, x: Vector, mode: Vector, signed: bool, target: Any) -> Vector:
    """The upper and the lower half of an integer are exact in f64, and so are their nearest sum and its error."""
    to_float, widen = (b.sitofp, b.sext) if signed else (b.uitofp, b.zext)
    wide = x if x.type is I64 else widen(x, I64)
    half = constant(I64, 32)
    high = b.fmul(to_float((b.ashr if signed else b.lshr)(wide, half), F64), constant(F64, 2.0**32))
    low = b.uitofp(b.and_(wide, constant(I64, 0xFFFFFFFF)), F64)
    nearest = to_float(x, target)
    result = nearest if target is F64 else b.fpext(nearest, F64)
    return _moved(b, nearest, _compared(b, *_sum(b, high, low), result), mode)


def _operations() -> Iterator[LaneOperation]:
    operations: dict[str, tuple[int, Callable[..., Vector]]] = {
        "add": (2, _add),
        "sub": (2, _subtract),
        "mul": (2, _multiply),
        "div": (2, _divide),
        "fma": (3, _fma),
        "rcp": (1, _reciprocal),
        "sqrt": (1, _square_root),
    }
    for kind, letter in (("f32", "f"), ("f64", "d")):
        for name, (operands, emit) in operations.items():
            yield LaneOperation(f"directed.{name}.{kind}", letter * operands + "i", letter, emit)
        target = F32 if letter == "f" else F64
        for sign in "us":
            convert = partial(_from_integer, signed=sign == "s", target=target)
            yield LaneOperation(f"directed.{kind}.{sign}32", "ii", letter, convert)
            yield LaneOperation(f"directed.{kind}.{sign}64", "li", letter, convert)
    yield LaneOperation("directed.f32.f64", "di", "f", _narrow)


DIRECTED = list(_operations())
directed = family(DIRECTED)
