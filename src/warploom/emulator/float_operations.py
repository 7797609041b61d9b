"""Floating-point operations of PTX on the lanes of a warp, and conversions from and to them.

All of them round to nearest; the other directions are in `directed_rounding`.
Flushing of subnormals and saturation are operations of their own that the encoder puts before and after.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from warploom.emulator.lanes import F32, F64, I32, I64, Builder, LaneOperation, Vector, call, constant, family

NAN32, NAN64 = 0x7FFFFFFF, 0xFFF8000000000000
_INTEGER = {F32: I32, F64: I64}
_SIGN = {F32: 0x80000000, F64: 0x8000000000000000}
_EXPONENT = {F32: 0x7F800000, F64: 0x7FF0000000000000}
_ORDERED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _bits(b: Builder, x: Vector) -> Vector:
    return b.bitcast(x, _INTEGER[x.type])


def _magnitude(b: Builder, x: Vector) -> Vector:
    kind = _INTEGER[x.type]
    return b.and_(_bits(b, x), constant(kind, _SIGN[x.type] - 1))


def _is_nan(b: Builder, x: Vector) -> Vector:
    return b.fcmp_unordered("uno", x, x)


def _canonical(b: Builder, x: Vector) -> Vector:
    """A NaN of f32 has one form: hardware loses sign and payload. In f64 it keeps both."""
    if x.type is not F32:
        return x
    return b.bitcast(b.select(_is_nan(b, x), constant(I32, NAN32), _bits(b, x)), F32)


def _inherited(b: Builder, result: Vector, *operands: Vector) -> Vector:
    """A NaN that comes from operands: in f32 the only one there is, in f64 that of the last operand listed, made quiet.

    In f64 an invalid operation has a NaN of its own, which not every processor would give: it is chosen here.
    """
    if result.type is F32:
        return _canonical(b, result)
    result = b.select(_is_nan(b, result), b.bitcast(constant(I64, NAN64), F64), result)
    for operand in operands:
        quiet = b.bitcast(b.or_(_bits(b, operand), constant(I64, 1 << 51)), F64)
        result = b.select(_is_nan(b, operand), quiet, result)
    return result


def _flush(b: Builder, x: Vector) -> Vector:
    """Subnormal numbers become zeros of their sign."""
    kind = _INTEGER[x.type]
    bits = _bits(b, x)
    subnormal = b.icmp_signed("==", b.and_(bits, constant(kind, _EXPONENT[x.type])), constant(kind, 0))
    zero = b.and_(bits, constant(kind, _SIGN[x.type]))
    return b.bitcast(b.select(subnormal, zero, bits), x.type)


def _saturate(b: Builder, x: Vector) -> Vector:
    """Into [0, 1]; a NaN becomes +0, and so does -0."""
    zero, one = constant(x.type, 0.0), constant(x.type, 1.0)
    positive = b.select(b.fcmp_ordered(">", x, zero), x, zero)
    return b.select(b.fcmp_ordered(">", positive, one), one, positive)


def _extreme(b: Builder, x: Vector, y: Vector, largest: bool, nan: bool) -> Vector:
    """min and max: a NaN loses against a number unless `nan`, and -0 is less than +0."""
    kind = _INTEGER[x.type]
    bits_x, bits_y = _bits(b, x), _bits(b, y)
    zeros = b.icmp_signed("==", b.or_(_magnitude(b, x), _magnitude(b, y)), constant(kind, 0))
    of_zeros = b.and_(bits_x, bits_y) if largest else b.or_(bits_x, bits_y)
    chosen = b.select(b.fcmp_ordered(">" if largest else "<", x, y), bits_x, bits_y)
    chosen = b.select(zeros, of_zeros, chosen)
    if nan:
        chosen = b.select(_is_nan(b, x), bits_x, b.select(_is_nan(b, y), bits_y, chosen))
    else:
        chosen = b.select(_is_nan(b, x), bits_y, b.select(_is_nan(b, y), bits_x, chosen))
    return _canonical(b, b.bitcast(chosen, x.type))


def fused(b: Builder, x: Vector, y: Vector, z: Vector) -> Vector:
    return _inherited(b, call(b, "llvm.fma", x, y, z), x, z, y)


def plain(b: Builder, x: Vector, y: Vector, name: str) -> Vector:
    return _inherited(b, getattr(b, name)(x, y), *((y, x) if name == "fdiv" else (x, y)))


def reciprocal(b: Builder, x: Vector) -> Vector:
    return _inherited(b, b.fdiv(constant(x.type, 1.0), x), x)


def square_root(b: Builder, x: Vector) -> Vector:
    return _inherited(b, call(b, "llvm.sqrt", x), x)


def _copy_sign(b: Builder, x: Vector, y: Vector) -> Vector:
    """The magnitude of y with the sign of x."""
    sign = b.and_(_bits(b, x), constant(_INTEGER[x.type], _SIGN[x.type]))
    return b.bitcast(b.or_(_magnitude(b, y), sign), x.type)


def _test(b: Builder, x: Vector, property_: str) -> Vector:
    kind, exponent = _INTEGER[x.type], _EXPONENT[x.type]
    magnitude = _magnitude(b, x)
    infinity, zero = constant(kind, exponent), constant(kind, 0)
    least_normal = constant(kind, exponent & -exponent)
    if property_ == "finite":
        return b.icmp_signed("<", magnitude, infinity)
    if property_ == "infinite":
        return b.icmp_signed("==", magnitude, infinity)
    if property_ in ("number", "notanumber"):
        return b.icmp_signed("<=" if property_ == "number" else ">", magnitude, infinity)
    if property_ == "normal":  # which zero is, for hardware
        usual = b.and_(b.icmp_signed(">=", magnitude, least_normal), b.icmp_signed("<", magnitude, infinity))
        return b.or_(usual, b.icmp_signed("==", magnitude, zero))
    return b.and_(b.icmp_signed("<", magnitude, least_normal), b.icmp_signed("!=", magnitude, zero))


def _negated(b: Builder, x: Vector) -> Vector:
    return _inherited(b, b.bitcast(b.xor(_bits(b, x), constant(_INTEGER[x.type], _SIGN[x.type])), x.type), x)


def _absolute(b: Builder, x: Vector) -> Vector:
    return _inherited(b, b.bitcast(_magnitude(b, x), x.type), x)


def _round_to_integer(b: Builder, x: Vector, mode: str) -> Vector:
    name = {"rni": "llvm.roundeven", "rzi": "llvm.trunc", "rmi": "llvm.floor", "rpi": "llvm.ceil"}[mode]
    return _inherited(b, call(b, name, x), x)


def _comparisons(kind: str, letter: str) -> Iterator[LaneOperation]:
    for name, symbol in _ORDERED.items():
        yield LaneOperation(f"{name}.{kind}", letter * 2, "p", lambda b, x, y, s=symbol: b.fcmp_ordered(s, x, y))
        yield LaneOperation(f"{name}u.{kind}", letter * 2, "p", lambda b, x, y, s=symbol: b.fcmp_unordered(s, x, y))
    yield LaneOperation(f"num.{kind}", letter * 2, "p", lambda b, x, y: b.fcmp_ordered("ord", x, y))
    yield LaneOperation(f"nan.{kind}", letter * 2, "p", lambda b, x, y: b.fcmp_unordered("uno", x, y))


def _to_integer(b: Builder, x: Vector, sign: str, bits: int) -> Vector:
    """A number that is already integral, to an integer of up to 64 bits, saturated.

    A NaN becomes the integer with only its top bit set, but 0 when an f32 becomes an integer of up to 32 bits.
    """
    wide = x if x.type is F64 else b.fpext(x, F64)
    low = 0.0 if sign == "u" else -(2.0 ** (bits - 1))
    beyond = 2.0 ** (bits if sign == "u" else bits - 1)  # the first power of two that is too large
    most = (1 << (bits if sign == "u" else bits - 1)) - 1
    least = 0 if sign == "u" else -(1 << (bits - 1))
    too_large = b.fcmp_ordered(">=", wide, constant(F64, beyond))
    too_small = b.fcmp_ordered("<=", wide, constant(F64, low))
    nan = _is_nan(b, wide)
    inside = b.select(b.or_(b.or_(too_large, too_small), nan), constant(F64, 0.0), wide)
    number = b.fptoui(inside, I64) if sign == "u" and bits == 64 else b.fptosi(inside, I64)
    number = b.select(too_large, constant(I64, most), b.select(too_small, constant(I64, least), number))
    return b.select(nan, constant(I64, 1 << (bits - 1) if bits == 64 or x.type is F64 else 0), number)


def _arithmetic(kind: str, letter: str) -> Iterator[LaneOperation]:
    two = letter * 2
    for name in ("add", "sub", "mul", "div"):
        yield LaneOperation(f"{name}.{kind}", two, letter, partial(plain, name=f"f{name}"))
    yield LaneOperation(f"fma.{kind}", letter * 3, letter, fused)
    yield LaneOperation(f"rcp.{kind}", letter, letter, reciprocal)
    yield LaneOperation(f"sqrt.{kind}", letter, letter, square_root)
    for name in ("min", "max"):
        yield LaneOperation(f"{name}.{kind}", two, letter, partial(_extreme, largest=name == "max", nan=False))
        yield LaneOperation(f"{name}.NaN.{kind}", two, letter, partial(_extreme, largest=name == "max", nan=True))
    yield LaneOperation(f"abs.{kind}", letter, letter, _absolute)
    yield LaneOperation(f"neg.{kind}", letter, letter, _negated)
    yield LaneOperation(f"copysign.{kind}", two, letter, _copy_sign)
    for name in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        yield LaneOperation(f"testp.{name}.{kind}", letter, "p", partial(_test, property_=name))
    yield LaneOperation(f"flush.{kind}", letter, letter, _flush)
    yield LaneOperation(f"saturate.{kind}", letter, letter, _saturate)
    yield LaneOperation(f"canonical.{kind}", letter, letter, _canonical)
    for name in ("rni", "rzi", "rmi", "rpi"):
        yield LaneOperation(f"{name}.{kind}", letter, letter, partial(_round_to_integer, mode=name))
    yield from _comparisons(kind, letter)


def _conversions() -> Iterator[LaneOperation]:
    for kind, letter in (("f32", "f"), ("f64", "d")):
        target = F32 if letter == "f" else F64
        yield LaneOperation(f"{kind}.s64", "l", letter, lambda b, x, t=target: b.sitofp(x, t))
        yield LaneOperation(f"{kind}.u64", "l", letter, lambda b, x, t=target: b.uitofp(x, t))
        yield LaneOperation(f"{kind}.s32", "i", letter, lambda b, x, t=target: b.sitofp(x, t))
        yield LaneOperation(f"{kind}.u32", "i", letter, lambda b, x, t=target: b.uitofp(x, t))
        for sign in "us":
            for bits in (8, 16, 32, 64):
                emit = partial(_to_integer, sign=sign, bits=bits)
                if bits == 64:
                    yield LaneOperation(f"{sign}64.{kind}", letter, "l", emit)
                else:
                    yield LaneOperation(f"{sign}{bits}.{kind}", letter, "i", lambda b, x, e=emit: b.trunc(e(b, x), I32))
    yield LaneOperation("f64.f32", "f", "d", lambda b, x: b.fpext(x, F64))
    yield LaneOperation("f32.f64", "d", "f", lambda b, x: b.fptrunc(x, F32))


FLOAT32 = list(_arithmetic("f32", "f"))
FLOAT64 = list(_arithmetic("f64", "d"))
CONVERSIONS = list(_conversions())
float32, float64, convert = family(FLOAT32), family(FLOAT64), family(CONVERSIONS)
