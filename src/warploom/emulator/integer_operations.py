"""Integer operations of PTX on the lanes of a warp."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from warploom.emulator.lanes import BIT, I32, I64, Builder, LaneOperation, Vector, call, constant, family

_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _is_zero(b: Builder, x: Vector) -> Vector:
    return b.icmp_signed("==", x, constant(x.type, 0))


def _minmax(b: Builder, x: Vector, y: Vector, sign: str, word: str) -> Vector:
    return call(b, f"llvm.{sign}{word}", x, y)


def _bits(x: Vector) -> int:
    return int(x.type.element.width)


def _shift(b: Builder, kind: str, x: Vector, amount: Vector) -> Vector:
    """shl, shr.u or shr.s; an amount past the width shifts everything out."""
    width = _bits(x)
    beyond = b.icmp_unsigned(">=", amount, constant(I32, width))
    clamped = b.select(beyond, constant(I32, width - 1), amount)
    clamped = clamped if width == 32 else b.zext(clamped, I64)
    if kind == "s":
        return b.ashr(x, clamped)
    shifted = b.shl(x, clamped) if kind == "l" else b.lshr(x, clamped)
    return b.select(beyond, constant(x.type, 0), shifted)


def _multiply_high(b: Builder, x: Vector, y: Vector, signed: bool) -> Vector:
    if _bits(x) == 32:
        widen = b.sext if signed else b.zext
        return b.trunc(b.lshr(b.mul(widen(x, I64), widen(y, I64)), constant(I64, 32)), I32)
    low, half = constant(I64, 0xFFFFFFFF), constant(I64, 32)
    x0, x1, y0, y1 = b.and_(x, low), b.lshr(x, half), b.and_(y, low), b.lshr(y, half)
    middle = b.add(b.mul(x1, y0), b.lshr(b.mul(x0, y0), half))
    other = b.add(b.mul(x0, y1), b.and_(middle, low))
    high = b.add(b.add(b.mul(x1, y1), b.lshr(middle, half)), b.lshr(other, half))
    if signed:  # a negative factor was read as itself plus 2**64
        sign = constant(I64, 63)
        high = b.sub(b.sub(high, b.and_(b.ashr(x, sign), y)), b.and_(b.ashr(y, sign), x))
    return high


def _divide(b: Builder, x: Vector, y: Vector, signed: bool, remainder: bool) -> Vector:
    """Division as hardware answers it: by zero, quotient and remainder have all bits set."""
    kind = x.type
    zero = _is_zero(b, y)
    divisor = b.select(zero, constant(kind, 1), y)
    if signed:  # the least number by -1 is the least number; LLVM leaves it undefined
        by_minus_one = b.icmp_signed("==", divisor, constant(kind, -1))
        divisor = b.select(by_minus_one, constant(kind, 1), divisor)
        quotient = b.sdiv(x, divisor)
        quotient = b.select(by_minus_one, b.sub(constant(kind, 0), x), quotient)
    else:
        quotient = b.udiv(x, divisor)
    result = b.sub(x, b.mul(quotient, y)) if remainder else quotient
    return b.select(zero, constant(kind, -1), result)


def _absolute(b: Builder, x: Vector) -> Vector:
    negative = b.icmp_signed("<", x, constant(x.type, 0))
    return b.select(negative, b.sub(constant(x.type, 0), x), x)


def _add_carry(b: Builder, x: Vector, y: Vector, carry: Vector) -> tuple[Vector, Vector]:
    kind = x.type
    first = b.add(x, y)
    total = b.add(first, b.zext(carry, kind))
    return total, b.or_(b.icmp_unsigned("<", first, x), b.icmp_unsigned("<", total, first))


def _subtract_carry(b: Builder, x: Vector, y: Vector, carry: Vector) -> tuple[Vector, Vector]:
    """x + ~y + carry: the flag that a subtraction reads and leaves is 1 where nothing is borrowed, and so an `addc` sees it."""
    return _add_carry(b, x, b.not_(y), carry)


def _field(b: Builder, amount: Vector, width: int) -> Vector:
    """The position or length of a bit field: hardware takes the low byte of it for 32 bits, all of it for 64."""
    return b.and_(amount, constant(I32, 255)) if width == 32 else _minmax(b, amount, constant(I32, 255), "u", "min")


def _field_extract(b: Builder, x: Vector, position: Vector, length: Vector, signed: bool) -> Vector:
    kind, width = x.type, _bits(x)
    position, length = _field(b, position, width), _field(b, length, width)
    empty = _is_zero(b, length)
    last = b.sub(b.add(position, length), constant(I32, 1))
    last = _minmax(b, last, constant(I32, width - 1), "u", "min")
    sign = b.and_(_shift(b, "u", x, last), constant(kind, 1))
    field = _shift(b, "u", x, position)
    mask = b.not_(_shift(b, "l", constant(kind, -1), length))
    field = b.and_(field, mask)
    if signed:  # what lies beyond the field, or beyond the word, is filled with the field's last bit
        available = b.sub(constant(I32, width), _minmax(b, position, constant(I32, width), "u", "min"))
        real = _minmax(b, length, available, "u", "min")
        fill = _shift(b, "l", constant(kind, -1), real)
        field = b.select(_is_zero(b, sign), b.and_(field, b.not_(fill)), b.or_(field, fill))
    return b.select(empty, constant(kind, 0), field)


def _field_insert(b: Builder, x: Vector, into: Vector, position: Vector, length: Vector) -> Vector:
    kind, width = x.type, _bits(x)
    position, length = _field(b, position, width), _field(b, length, width)
    mask = _shift(b, "l", b.not_(_shift(b, "l", constant(kind, -1), length)), position)
    return b.or_(b.and_(_shift(b, "l", x, position), mask), b.and_(into, b.not_(mask)))


def _find_bit(b: Builder, x: Vector, signed: bool, shift_amount: bool) -> Vector:
    """The position of the most significant bit that is not a sign, or how far it is from the top; all ones if there is none."""
    width = _bits(x)
    if signed:
        x = b.xor(x, b.ashr(x, constant(x.type, width - 1)))
    zeros = _count_zeros(b, x)
    found = zeros if shift_amount else b.sub(constant(I32, width - 1), zeros)
    return b.select(_is_zero(b, x), constant(I32, -1), found)


def _narrowed(b: Builder, x: Vector) -> Vector:
    return x if _bits(x) == 32 else b.trunc(x, I32)


def _count_zeros(b: Builder, x: Vector) -> Vector:
    return _narrowed(b, call(b, "llvm.ctlz", x, BIT(0)))


def _funnel(b: Builder, low: Vector, high: Vector, amount: Vector, left: bool, wrap: bool) -> Vector:
    amount = b.and_(amount, constant(I32, 31)) if wrap else _minmax(b, amount, constant(I32, 32), "u", "min")
    both = b.or_(b.zext(low, I64), b.shl(b.zext(high, I64), constant(I64, 32)))
    amount = b.zext(amount, I64)
    return b.trunc(b.lshr(b.shl(both, amount), constant(I64, 32)) if left else b.lshr(both, amount), I32)


def _any_function(b: Builder, x: Vector, y: Vector, z: Vector, table: Vector) -> Vector:
    """lop3: bit i of the table is the answer where the bits of x, y, z spell i."""
    result: Vector = constant(I32, 0)
    for minterm in range(8):
        wanted = b.sub(constant(I32, 0), b.and_(b.lshr(table, constant(I32, minterm)), constant(I32, 1)))
        for place, operand in ((4, x), (2, y), (1, z)):
            wanted = b.and_(wanted, operand if minterm & place else b.not_(operand))
        result = b.or_(result, wanted)
    return result


def _permute(b: Builder, x: Vector, y: Vector, selector: Vector, mode: str) -> Vector:
    """prmt: each byte of the result is one of the eight bytes of y:x."""
    both = b.or_(b.zext(x, I64), b.shl(b.zext(y, I64), constant(I64, 32)))
    start = b.and_(selector, constant(I32, 3))
    result: Vector = constant(I32, 0)
    for place in range(4):
        here = constant(I32, place)
        replicate = None
        if mode == "":
            nibble = b.lshr(selector, constant(I32, 4 * place))
            index, replicate = b.and_(nibble, constant(I32, 7)), b.and_(nibble, constant(I32, 8))
        elif mode == "f4e":
            index = b.add(start, here)
        elif mode == "b4e":
            index = b.and_(b.sub(start, here), constant(I32, 7))
        elif mode == "rc8":
            index = start
        elif mode in ("ecl", "ecr"):
            index = _minmax(b, start, here, "u", "max" if mode == "ecl" else "min")
        else:
            index = b.add(b.shl(b.and_(start, constant(I32, 1)), constant(I32, 1)), constant(I32, place & 1))
        byte = b.trunc(b.lshr(both, b.zext(b.shl(index, constant(I32, 3)), I64)), I32)
        byte = b.and_(byte, constant(I32, 255))
        if replicate is not None:
            sign = b.sub(constant(I32, 0), b.lshr(byte, constant(I32, 7)))
            byte = b.select(_is_zero(b, replicate), byte, b.and_(sign, constant(I32, 255)))
        result = b.or_(result, b.shl(byte, constant(I32, 8 * place)))
    return result


def _piece(b: Builder, x: Vector, at: int, width: int, signed: bool) -> Vector:
    raised = b.shl(x, constant(I32, 32 - at - width))
    return (b.ashr if signed else b.lshr)(raised, constant(I32, 32 - width))


def _dot(b: Builder, x: Vector, y: Vector, total: Vector, pieces: list[tuple[int, int, int]], signs: tuple[bool, bool]) -> Vector:
    """dp4a and dp2a: the sum of products of pieces, each (bit in x, bits, bit in y)."""
    for at, width, other in pieces:
        total = b.add(total, b.mul(_piece(b, x, at, width, signs[0]), _piece(b, y, other, 8, signs[1])))
    return total


def _low24(b: Builder, x: Vector, signed: bool) -> Vector:
    return (b.sext if signed else b.zext)(_piece(b, x, 0, 24, signed), I64)


def _multiply24(b: Builder, x: Vector, y: Vector, signed: bool, high: bool) -> Vector:
    product = b.mul(_low24(b, x, signed), _low24(b, y, signed))
    return b.trunc(b.lshr(product, constant(I64, 16)) if high else product, I32)


def _bit_mask(b: Builder, first: Vector, length: Vector, wrap: bool) -> Vector:
    limit = (lambda v: b.and_(v, constant(I32, 31))) if wrap else (lambda v: _minmax(b, v, constant(I32, 32), "u", "min"))
    first, length = limit(first), limit(length)
    ones = constant(I32, -1)
    return b.and_(_shift(b, "l", ones, first), b.not_(_shift(b, "l", ones, b.add(first, length))))


def _extend_from(b: Builder, x: Vector, length: Vector, signed: bool, wrap: bool) -> Vector:
    length = b.and_(length, constant(I32, 31)) if wrap else _minmax(b, length, constant(I32, 32), "u", "min")
    shift = b.sub(constant(I32, 32), length)
    return _shift(b, "s" if signed else "u", _shift(b, "l", x, shift), shift)


def _trim(b: Builder, x: Vector, shift: Vector, signed: bool) -> Vector:
    """Keep the low 32 - shift bits and extend them."""
    return (b.ashr if signed else b.lshr)(b.shl(x, shift), shift)


def _both_widths(letter: str) -> Iterator[LaneOperation]:
    """Operations that exist for 32 bits (letter i) and 64 bits (letter l)."""
    width = "32" if letter == "i" else "64"
    one, two, three = letter, letter * 2, letter * 3
    simple = {
        "add": Builder.add,
        "sub": Builder.sub,
        "mul": Builder.mul,
        "and": Builder.and_,
        "or": Builder.or_,
        "xor": Builder.xor,
    }
    for name, emit in simple.items():
        yield LaneOperation(f"{name}.{width}", two, one, emit)
    yield LaneOperation(f"mad.{width}", three, one, lambda b, x, y, z: b.add(b.mul(x, y), z))
    for sign in "su":
        signed = sign == "s"
        yield LaneOperation(f"mulhi.{sign}{width}", two, one, partial(_multiply_high, signed=signed))
        yield LaneOperation(f"min.{sign}{width}", two, one, partial(_minmax, sign=sign, word="min"))
        yield LaneOperation(f"max.{sign}{width}", two, one, partial(_minmax, sign=sign, word="max"))
        yield LaneOperation(f"div.{sign}{width}", two, one, partial(_divide, signed=signed, remainder=False))
        yield LaneOperation(f"rem.{sign}{width}", two, one, partial(_divide, signed=signed, remainder=True))
        yield LaneOperation(f"bfe.{sign}{width}", f"{one}ii", one, partial(_field_extract, signed=signed))
        yield LaneOperation(f"bfind.{sign}{width}", one, "i", partial(_find_bit, signed=signed, shift_amount=False))
        yield LaneOperation(f"bfind.shiftamt.{sign}{width}", one, "i", partial(_find_bit, signed=signed, shift_amount=True))

        def sad(b: Builder, x: Vector, y: Vector, z: Vector, sign: str = sign) -> Vector:
            return b.add(b.sub(_minmax(b, x, y, sign, "max"), _minmax(b, x, y, sign, "min")), z)

        yield LaneOperation(f"sad.{sign}{width}", three, one, sad)
        for name, symbol in _COMPARISONS.items():
            if signed or name not in ("eq", "ne"):
                compare = Builder.icmp_signed if signed else Builder.icmp_unsigned
                yield LaneOperation(f"{name}.{sign}{width}", two, "p", lambda b, x, y, c=compare, s=symbol: c(b, s, x, y))
    yield LaneOperation(f"mov.{width}", one, one, lambda b, x: x)
    yield LaneOperation(f"not.{width}", one, one, Builder.not_)
    yield LaneOperation(f"neg.{width}", one, one, lambda b, x: b.sub(constant(x.type, 0), x))
    yield LaneOperation(f"abs.{width}", one, one, _absolute)
    yield LaneOperation(f"cnot.{width}", one, one, lambda b, x: b.zext(_is_zero(b, x), x.type))
    yield LaneOperation(f"shl.{width}", f"{one}i", one, lambda b, x, n: _shift(b, "l", x, n))
    yield LaneOperation(f"shr.u{width}", f"{one}i", one, lambda b, x, n: _shift(b, "u", x, n))
    yield LaneOperation(f"shr.s{width}", f"{one}i", one, lambda b, x, n: _shift(b, "s", x, n))
    yield LaneOperation(f"bfi.{width}", f"{two}ii", one, _field_insert)
    yield LaneOperation(f"brev.{width}", one, one, lambda b, x: call(b, "llvm.bitreverse", x))
    yield LaneOperation(f"popc.{width}", one, "i", lambda b, x: _narrowed(b, call(b, "llvm.ctpop", x)))
    yield LaneOperation(f"clz.{width}", one, "i", _count_zeros)
    yield LaneOperation(f"addc.{width}", f"{two}p", f"{one}p", _add_carry)
    yield LaneOperation(f"subc.{width}", f"{two}p", f"{one}p", _subtract_carry)
    yield LaneOperation(f"selp.{width}", f"{two}p", one, lambda b, x, y, p: b.select(p, x, y))


def _words() -> Iterator[LaneOperation]:
    """Operations of 32 bits alone."""
    yield LaneOperation("lop3", "iiii", "i", _any_function)
    for side in "lr":
        for mode in ("wrap", "clamp"):
            emit = partial(_funnel, left=side == "l", wrap=mode == "wrap")
            yield LaneOperation(f"shf.{side}.{mode}", "iii", "i", emit)
    for mode in ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        yield LaneOperation(f"prmt.{mode}" if mode else "prmt", "iii", "i", partial(_permute, mode=mode))
    for first in "us":
        for second in "us":
            signs = (first == "s", second == "s")
            quads = [(8 * n, 8, 8 * n) for n in range(4)]
            yield LaneOperation(f"dp4a.{first}{second}", "iii", "i", partial(_dot, pieces=quads, signs=signs))
            for half, at in (("lo", 0), ("hi", 16)):
                pairs = [(0, 16, at), (16, 16, at + 8)]
                yield LaneOperation(f"dp2a.{half}.{first}{second}", "iii", "i", partial(_dot, pieces=pairs, signs=signs))
    for sign in "us":
        for half in ("lo", "hi"):
            emit = partial(_multiply24, signed=sign == "s", high=half == "hi")
            yield LaneOperation(f"mul24.{half}.{sign}", "ii", "i", emit)
        for mode in ("clamp", "wrap"):
            emit = partial(_extend_from, signed=sign == "s", wrap=mode == "wrap")
            yield LaneOperation(f"szext.{mode}.{sign}", "ii", "i", emit)
    yield LaneOperation("mulhi.16", "ii", "i", lambda b, x, y: b.ashr(b.mul(x, y), constant(I32, 16)))
    yield LaneOperation("add.sat", "ii", "i", lambda b, x, y: call(b, "llvm.sadd.sat", x, y))
    yield LaneOperation("sub.sat", "ii", "i", lambda b, x, y: call(b, "llvm.ssub.sat", x, y))
    for mode in ("clamp", "wrap"):
        yield LaneOperation(f"bmsk.{mode}", "ii", "i", partial(_bit_mask, wrap=mode == "wrap"))


def _across_widths() -> Iterator[LaneOperation]:
    """From 32 to 64 bits, and conversions between integers: to other widths, with or without saturation."""
    for sign in "us":
        widen = Builder.sext if sign == "s" else Builder.zext
        yield LaneOperation(f"mulwide.{sign}", "ii", "l", lambda b, x, y, w=widen: b.mul(w(b, x, I64), w(b, y, I64)))
        yield LaneOperation(
            f"madwide.{sign}", "iil", "l", lambda b, x, y, z, w=widen: b.add(b.mul(w(b, x, I64), w(b, y, I64)), z)
        )
        yield LaneOperation(
            f"widen.{sign}", "ii", "l", lambda b, x, shift, w=widen, sign=sign: w(b, _trim(b, x, shift, sign == "s"), I64)
        )
        yield LaneOperation(f"trim.{sign}", "ii", "i", partial(_trim, signed=sign == "s"))
    yield LaneOperation("clamp.s", "lll", "l", lambda b, x, low, high: call(b, "llvm.smin", call(b, "llvm.smax", x, low), high))
    yield LaneOperation("clamp.u", "ll", "l", lambda b, x, high: call(b, "llvm.umin", x, high))


INTEGER32 = [*_both_widths("i"), *_words()]
INTEGER64 = [*_both_widths("l"), *_across_widths()]
integer32 = family(INTEGER32)
integer64 = family(INTEGER64)
