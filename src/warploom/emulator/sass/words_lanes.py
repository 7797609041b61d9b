"""Integer operations of SASS that PTX does not have, on the lanes of a warp."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from warploom.emulator.lanes import I1, I32, I64, Builder, LaneOperation, Vector, constant, family

_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
COMMON_TABLES: tuple[int, ...] = (0xC0, 0xFC, 0x3C, 0x33, 0x0F, 0x30, 0x0C, 0xF8, 0x78, 0x96, 0x80, 0xFE, 0xB8, 0xE2, 0xCA)
COMMON_TABLES += (0xEA, 0x3F, 0xF3, 0x48, 0x40, 0x20, 0x1E, 0xE8, 0xF4, 0xF2, 0xD8, 0xAC, 0xE4, 0xCF, 0x9F, 0xC3, 0x03)
"""Tables of LOP3 that have an operation of their own; the others go through ``lop3``, which looks each bit up."""


def _carried(b: Builder, words: tuple[Vector, ...], carry: Vector, least: int) -> tuple[Vector, Vector]:
    """The sum of four words and a carry, and whether at least so many carries leave it."""
    total = b.zext(carry, I64)
    for word in words:
        total = b.add(total, b.zext(word, I64))
    return b.trunc(total, I32), b.icmp_unsigned(">=", total, constant(I64, least << 32))


def _logic(b: Builder, x: Vector, y: Vector, z: Vector, table: int) -> Vector:
    """Any function of three bits, from the cheapest of: no z, or z chooses between two functions of x and y."""

    def of_two(bits: int) -> Vector:
        """The function of x and y whose four bits are at x y = 11, 10, 01, 00 from the top."""
        ones, zeros = constant(I32, -1), constant(I32, 0)
        known = {
            0b0000: lambda: zeros,
            0b1111: lambda: ones,
            0b1100: lambda: x,
            0b0011: lambda: b.not_(x),
            0b1010: lambda: y,
            0b0101: lambda: b.not_(y),
            0b1000: lambda: b.and_(x, y),
            0b1110: lambda: b.or_(x, y),
            0b0110: lambda: b.xor(x, y),
            0b1001: lambda: b.not_(b.xor(x, y)),
            0b0100: lambda: b.and_(x, b.not_(y)),
            0b0010: lambda: b.and_(b.not_(x), y),
            0b0001: lambda: b.not_(b.or_(x, y)),
            0b0111: lambda: b.not_(b.and_(x, y)),
            0b1101: lambda: b.or_(x, b.not_(y)),
            0b1011: lambda: b.or_(b.not_(x), y),
        }
        return known[bits]()

    def half(z_is: int) -> int:
        """The four bits of the table for one value of z."""
        return sum((table >> (2 * pair + z_is) & 1) << pair for pair in range(4))

    without, with_z = half(0), half(1)
    if without == with_z:
        return of_two(without)
    return b.or_(b.and_(z, of_two(with_z)), b.and_(b.not_(z), of_two(without)))


def _amount(b: Builder, amount: Vector, width: int, wrap: bool) -> Vector:
    if wrap:
        return b.and_(amount, constant(I32, width - 1))
    beyond = b.icmp_unsigned(">", amount, constant(I32, width))
    return b.select(beyond, constant(I32, width), amount)


def _both(b: Builder, low: Vector, high: Vector) -> Vector:
    return b.or_(b.zext(low, I64), b.shl(b.zext(high, I64), constant(I64, 32)))


def _shift_pair(
    b: Builder, low: Vector, amount: Vector, high: Vector, left: bool, signed: bool, upper: bool, wrap: bool
) -> Vector:
    """SHF with a 64-bit type: the upper or lower word of the pair after the shift."""
    pair = _both(b, low, high)
    count = _amount(b, amount, 64, wrap)
    whole = b.icmp_unsigned(">=", count, constant(I32, 64))
    wide = b.zext(b.and_(count, constant(I32, 63)), I64)
    if left:
        shifted = b.select(whole, constant(I64, 0), b.shl(pair, wide))
    elif signed:
        shifted = b.select(whole, b.ashr(pair, constant(I64, 63)), b.ashr(pair, wide))
    else:
        shifted = b.select(whole, constant(I64, 0), b.lshr(pair, wide))
    return b.trunc(b.lshr(shifted, constant(I64, 32)) if upper else shifted, I32)


def _lea_high(b: Builder, x: Vector, y: Vector, high: Vector, amount: Vector, carry: Vector) -> Vector:
    """The upper word of ({high:x} << amount), plus y and a carry."""
    shifted = b.shl(_both(b, x, high), b.zext(b.and_(amount, constant(I32, 31)), I64))
    upper = b.trunc(b.lshr(shifted, constant(I64, 32)), I32)
    return b.add(b.add(upper, y), b.zext(carry, I32))


def _lea(b: Builder, x: Vector, y: Vector, amount: Vector) -> Vector:
    return b.add(b.shl(x, b.and_(amount, constant(I32, 31))), y)


def _extended_comparison(b: Builder, x: Vector, y: Vector, low: Vector, name: str, signed: bool) -> Vector:
    """The comparison of 64-bit numbers by their upper words, given that of their lower words."""
    compare = b.icmp_signed if signed else b.icmp_unsigned
    if name == "eq":
        return b.and_(compare("==", x, y), low)
    if name == "ne":
        return b.or_(compare("!=", x, y), low)
    return b.or_(compare(_COMPARISONS[name][0], x, y), b.and_(compare("==", x, y), low))


def _multiply_wide(b: Builder, x: Vector, y: Vector, z: Vector, carry: Vector, signed: bool) -> tuple[Vector, Vector]:
    widen = b.sext if signed else b.zext
    product = b.mul(widen(x, I64), widen(y, I64))
    first = b.add(product, z)
    total = b.add(first, b.zext(carry, I64))
    return total, b.or_(b.icmp_unsigned("<", first, product), b.icmp_unsigned("<", total, first))


def _operations() -> Iterator[LaneOperation]:
    yield LaneOperation("add3", "iii", "i", lambda b, x, y, z: b.add(b.add(x, y), z))
    yield LaneOperation("add4.carry", "iiiip", "ip", lambda b, w, x, y, z, p: _carried(b, (w, x, y, z), p, 1))
    yield LaneOperation("add4.carry2", "iiiip", "p", lambda b, w, x, y, z, p: _carried(b, (w, x, y, z), p, 2)[1])
    yield LaneOperation("add4", "iiiip", "i", lambda b, w, x, y, z, p: _carried(b, (w, x, y, z), p, 1)[0])
    yield LaneOperation("madc", "iiip", "i", lambda b, x, y, z, p: b.add(b.add(b.mul(x, y), z), b.zext(p, I32)))
    yield LaneOperation("lea", "iii", "i", _lea)
    yield LaneOperation("lea.hi", "iiiip", "i", _lea_high)
    yield LaneOperation("flag", "p", "i", lambda b, p: b.zext(p, I32))
    yield LaneOperation("sign", "i", "i", lambda b, x: b.ashr(x, constant(I32, 31)))
    for sign in "us":
        emit = partial(_multiply_wide, signed=sign == "s")
        yield LaneOperation(f"madwide.carry.{sign}", "iilp", "lp", emit)
        for name in _COMPARISONS:
            yield LaneOperation(f"{name}.ex.{sign}", "iip", "p", partial(_extended_comparison, name=name, signed=sign == "s"))
    for left in (False, True):
        for signed in (False, True) if not left else (False,):
            for upper in (False, True):
                for wrap in (False, True):
                    name = (
                        f"shf64.{'l' if left else 'r'}.{'s' if signed else 'u'}.{'hi' if upper else 'lo'}.{'w' if wrap else 'c'}"
                    )
                    emit = partial(_shift_pair, left=left, signed=signed, upper=upper, wrap=wrap)
                    yield LaneOperation(name, "iii", "i", emit)
    for table in COMMON_TABLES:
        yield LaneOperation(f"lop3.{table:02x}", "iii", "i", partial(_logic, table=table))
    yield LaneOperation("bit", "ii", "p", lambda b, x, n: b.trunc(b.lshr(x, n), I1))


WORDS = list(_operations())
words = family(WORDS)
