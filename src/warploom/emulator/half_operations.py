"""Half precision on the lanes of a warp: f16 and bf16, two numbers in a word.

Every number of either format is one of f32 too, so sums and products are rounded to f32 first and to the format then. That is
harmless: f32 has more than twice the bits of either. A fused multiply-add is rounded to f32 or f64 so that the last bit tells
whether anything was cut off (to odd), which makes the second rounding the only one. A NaN that is computed is 0x7fff.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from warploom.emulator.float_operations import FLOAT32
from warploom.emulator.lanes import F32, F64, I32, I64, Builder, LaneOperation, Vector, constant, family

FORMATS = ("f16", "bf16")
ROUNDINGS = ("rn", "rz", "rm", "rp")
_FLOAT32 = {operation.name: operation.emit for operation in FLOAT32}
_SCALE = 2.0**112  # between the exponents of f32 and f16
_BEYOND = 65536.0  # the first power of two that is too large for f16
_MOST = 65504.0
_NAN = 0x7FFF
_LEAST_EXPONENT = 127 - 14  # of a normal f16, as f32 writes it
_F32_BITS, _F16_BITS = 23, 10  # of the fraction


def _bits(b: Builder, x: Vector) -> Vector:
    return b.bitcast(x, I32 if x.type is F32 else I64)


def _nan(b: Builder, x: Vector) -> Vector:
    return b.fcmp_unordered("uno", x, x)


def _widened(b: Builder, bits: Vector, kind: str) -> Vector:
    """The f32 of a number that lies in the lower half of each word; what lies above it does not matter."""
    if kind == "bf16":
        return b.bitcast(b.shl(bits, constant(I32, 16)), F32)
    magnitude = b.and_(bits, constant(I32, 0x7FFF))
    scaled = b.fmul(b.bitcast(b.shl(magnitude, constant(I32, 13)), F32), constant(F32, _SCALE))
    special = b.icmp_unsigned(">=", magnitude, constant(I32, 0x7C00))  # infinities and NaNs
    number = b.select(special, b.or_(_bits(b, scaled), constant(I32, 0x7F800000)), _bits(b, scaled))
    sign = b.shl(b.and_(bits, constant(I32, 0x8000)), constant(I32, 16))
    return b.bitcast(b.or_(number, sign), F32)


def _low(b: Builder, word: Vector, kind: str) -> Vector:
    return _widened(b, word, kind)


def _high(b: Builder, word: Vector, kind: str) -> Vector:
    if kind == "bf16":
        return b.bitcast(b.and_(word, constant(I32, 0xFFFF0000)), F32)
    return _widened(b, b.lshr(word, constant(I32, 16)), kind)


def _outward(b: Builder, negative: Vector, rounding: str) -> Vector | None:
    """Where a directed rounding goes away from zero; none where it never does."""
    return {"rz": None, "rm": negative, "rp": b.not_(negative)}[rounding]


def _to_bf16(b: Builder, x: Vector, rounding: str) -> Vector:
    bits = _bits(b, x)
    upper = b.lshr(bits, constant(I32, 16))
    if rounding == "rn":
        odd = b.and_(upper, constant(I32, 1))
        upper = b.lshr(b.add(b.add(bits, constant(I32, 0x7FFF)), odd), constant(I32, 16))
    else:
        away = _outward(b, b.icmp_signed("<", bits, constant(I32, 0)), rounding)
        if away is not None:
            inexact = b.icmp_unsigned("!=", b.and_(bits, constant(I32, 0xFFFF)), constant(I32, 0))
            upper = b.add(upper, b.zext(b.and_(away, inexact), I32))
    return b.select(_nan(b, x), constant(I32, _NAN), upper)


def _to_f16(b: Builder, x: Vector, rounding: str) -> Vector:
    bits = _bits(b, x)
    magnitude = b.bitcast(b.and_(bits, constant(I32, 0x7FFFFFFF)), F32)
    infinite = b.fcmp_ordered("==", magnitude, constant(F32, float("inf")))
    # All that is too large is so in the same way; the sums below must stay within f32.
    magnitude = b.select(b.fcmp_ordered("<", magnitude, constant(F32, 2 * _BEYOND)), magnitude, constant(F32, 2 * _BEYOND))
    exponent = b.lshr(_bits(b, magnitude), constant(I32, _F32_BITS))
    least = constant(I32, _LEAST_EXPONENT)
    exponent = b.select(b.icmp_unsigned(">", exponent, least), exponent, least)
    # Adding a number whose last bit weighs as much as that of the result leaves no more bits than the result has.
    shift = b.shl(b.add(exponent, constant(I32, _F32_BITS - _F16_BITS)), constant(I32, _F32_BITS))
    large = b.bitcast(b.or_(shift, constant(I32, 1 << _F32_BITS - 1)), F32)
    rounded = b.fsub(b.fadd(magnitude, large), large)
    if rounding != "rn":
        unit = b.bitcast(b.shl(b.sub(exponent, constant(I32, _F16_BITS)), constant(I32, _F32_BITS)), F32)
        too_large = b.fcmp_ordered(">", rounded, magnitude)
        down = b.select(too_large, b.fsub(rounded, unit), rounded)
        away = _outward(b, b.icmp_signed("<", bits, constant(I32, 0)), rounding)
        up = b.select(b.fcmp_ordered("<", rounded, magnitude), b.fadd(rounded, unit), rounded)
        most = b.select(infinite, constant(F32, 2 * _BEYOND), constant(F32, _MOST))
        down = b.select(b.fcmp_ordered("<", down, constant(F32, _BEYOND)), down, most)
        rounded = down if away is None else b.select(away, up, down)
    small = b.lshr(_bits(b, b.fmul(rounded, constant(F32, 1 / _SCALE))), constant(I32, 13))
    number = b.select(b.fcmp_ordered("<", rounded, constant(F32, _BEYOND)), small, constant(I32, 0x7C00))
    sign = b.and_(b.lshr(bits, constant(I32, 16)), constant(I32, 0x8000))
    return b.select(_nan(b, x), constant(I32, _NAN), b.or_(number, sign))


def _narrowed(b: Builder, x: Vector, kind: str, rounding: str = "rn") -> Vector:
    """The bits of the number of a format nearest to an f32, or next to it in a direction; a NaN is 0x7fff."""
    return _to_bf16(b, x, rounding) if kind == "bf16" else _to_f16(b, x, rounding)


def _packed(b: Builder, low: Vector, high: Vector, kind: str, rounding: str = "rn") -> Vector:
    upper = b.shl(_narrowed(b, high, kind, rounding), constant(I32, 16))
    return b.or_(_narrowed(b, low, kind, rounding), upper)


def _odd_single(b: Builder, x: Vector) -> Vector:
    """f64 to f32, to odd: what is not exact ends in a one, so that any rounding after it is right."""
    nearest = b.fptrunc(x, F32)
    back = b.fpext(nearest, F64)
    size, size_back = (b.bitcast(b.and_(_bits(b, v), constant(I64, (1 << 63) - 1)), F64) for v in (x, back))
    bits = _bits(b, nearest)
    beside = b.select(b.fcmp_ordered(">", size_back, size), b.sub(bits, constant(I32, 1)), b.add(bits, constant(I32, 1)))
    even = b.icmp_unsigned("==", b.and_(bits, constant(I32, 1)), constant(I32, 0))
    return b.bitcast(b.select(b.and_(b.fcmp_ordered("!=", back, x), even), beside, bits), F32)


def _odd_sum(b: Builder, x: Vector, y: Vector) -> Vector:
    """x + y rounded to odd."""
    total = b.fadd(x, y)
    part = b.fsub(total, x)
    error = b.fadd(b.fsub(x, b.fsub(total, part)), b.fsub(y, part))
    kind = I32 if x.type is F32 else I64
    bits, one, zero = _bits(b, total), constant(kind, 1), constant(x.type, 0.0)
    negative = b.icmp_signed("<", bits, constant(kind, 0))
    outside = b.select(negative, b.fcmp_ordered("<", error, zero), b.fcmp_ordered(">", error, zero))
    beside = b.select(outside, b.add(bits, one), b.sub(bits, one))
    even = b.icmp_unsigned("==", b.and_(bits, one), constant(kind, 0))
    finite = b.fcmp_ordered("ord", error, error)
    cut = b.and_(b.and_(finite, even), b.fcmp_ordered("!=", error, zero))
    return b.bitcast(b.select(cut, beside, bits), x.type)


def _fused(b: Builder, x: Vector, y: Vector, z: Vector, kind: str) -> Vector:
    """x * y + z; the product is exact, in f32 for f16 and in f64 for bf16, whose exponents are as large as those of f32."""
    if kind == "f16":
        return _odd_sum(b, b.fmul(x, y), z)
    x, y, z = (b.fpext(v, F64) for v in (x, y, z))
    return _odd_single(b, _odd_sum(b, b.fmul(x, y), z))


def _rectified(b: Builder, x: Vector) -> Vector:
    """Nothing below +0; a NaN stays one."""
    return b.select(b.fcmp_unordered(">", x, constant(F32, 0.0)), x, constant(F32, 0.0))


def _flushed(b: Builder, x: Vector, kind: str) -> Vector:
    """Subnormal numbers of the format become zeros of their sign."""
    least = constant(F32, 2.0**-14 if kind == "f16" else 2.0**-126)
    magnitude = b.bitcast(b.and_(_bits(b, x), constant(I32, 0x7FFFFFFF)), F32)
    zero = b.bitcast(b.and_(_bits(b, x), constant(I32, 0x80000000)), F32)
    return b.select(b.fcmp_ordered("<", magnitude, least), zero, x)


def _both(b: Builder, *words: Vector, kind: str, emit: Callable[..., Vector]) -> Vector:
    """An operation of f32 on the lower halves, and on the upper ones."""
    low = emit(b, *(_low(b, word, kind) for word in words))
    return _packed(b, low, emit(b, *(_high(b, word, kind) for word in words)), kind)


def _sticky(b: Builder, x: Vector) -> Vector:
    """A 64-bit integer with no more bits than f64 has; the last one tells whether anything was cut off."""
    rest = b.and_(x, constant(I64, 0x7FF))
    last = b.shl(b.zext(b.icmp_unsigned("!=", rest, constant(I64, 0)), I64), constant(I64, 11))
    short = b.or_(b.and_(x, constant(I64, ~0x7FF)), last)
    small = b.icmp_unsigned("<", b.add(x, constant(I64, 1 << 53)), constant(I64, 1 << 54))
    return b.select(small, x, short)


def _operations() -> Iterator[LaneOperation]:
    for kind in FORMATS:
        both = partial(_both, kind=kind)
        yield LaneOperation(f"fma2.{kind}", "iii", "i", partial(both, emit=partial(_fused, kind=kind)))
        yield LaneOperation(f"add2.{kind}", "ii", "i", partial(both, emit=lambda b, x, y: b.fadd(x, y)))
        yield LaneOperation(f"mul2.{kind}", "ii", "i", partial(both, emit=lambda b, x, y: b.fmul(x, y)))
        for name in ("min", "max", "min.NaN", "max.NaN"):
            first, *rest = name.split(".")
            spelling = ".".join([f"{first}2", *rest, kind])
            yield LaneOperation(spelling, "ii", "i", partial(both, emit=_FLOAT32[f"{name}.f32"]))
        yield LaneOperation(f"relu2.{kind}", "i", "i", partial(both, emit=_rectified))
        yield LaneOperation(f"saturate2.{kind}", "i", "i", partial(both, emit=_FLOAT32["saturate.f32"]))
        yield LaneOperation(f"flush2.{kind}", "i", "i", partial(both, emit=partial(_flushed, kind=kind)))
        yield LaneOperation(f"low.{kind}", "i", "f", lambda b, word, k=kind: _FLOAT32["canonical.f32"](b, _low(b, word, k)))
        yield LaneOperation(f"high.{kind}", "i", "f", lambda b, word, k=kind: _FLOAT32["canonical.f32"](b, _high(b, word, k)))
        yield LaneOperation(f"pack.{kind}", "ff", "i", partial(_packed, kind=kind))
        for rounding in ROUNDINGS:
            yield LaneOperation(f"{kind}.f32.{rounding}", "f", "i", partial(_narrowed, kind=kind, rounding=rounding))
    yield LaneOperation("odd.f32.f64", "d", "f", _odd_single)
    yield LaneOperation("sticky.64", "l", "l", _sticky)


HALVES = list(_operations())
halves = family(HALVES)
