"""Arithmetic of PTX's floats with Python's integers and fractions: slow, and right by inspection. NaNs are all alike."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """A binary format of IEEE 754.

    ``precision`` counts the bits of the significand; ``least`` and ``largest`` are exponents of last places, of the smallest
    numbers and of the greatest.
    """

    name: str
    bits: int
    precision: int
    least: int
    largest: int

    @property
    def greatest(self) -> Fraction:
        """The largest finite number."""
        return Fraction((1 << self.precision) - 1) * Fraction(2) ** self.largest


F32 = Format("f32", 32, 24, -149, 104)
F64 = Format("f64", 64, 53, -1074, 971)
FORMATS = {"f32": F32, "f64": F64}


def _whole(value: Fraction, mode: str, negative: bool) -> int:
    """A magnitude as a whole number, rounded."""
    below = math.floor(value)
    rest = value - below
    if mode == "rn":
        return below + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2 == 1))
    return below + (rest > 0 and mode == ("rm" if negative else "rp"))


def rounded(value: Fraction, form: Format, mode: str, zero: float = 0.0) -> float:
    """A number in a format; `zero` is what an exact zero becomes."""
    if value == 0:
        return zero
    negative, magnitude = value < 0, abs(value)
    place = form.least
    while magnitude / Fraction(2) ** place >= 1 << form.precision:
        step = (magnitude / Fraction(2) ** place).__floor__().bit_length() - form.precision
        place += max(step, 1)
    number = Fraction(_whole(magnitude / Fraction(2) ** place, mode, negative)) * Fraction(2) ** place
    if number > form.greatest:
        outward = mode == "rn" or mode == ("rm" if negative else "rp")
        result = math.inf if outward else float(form.greatest)
    else:
        result = float(number)
    return -result if negative else result


def _sum(terms: tuple[float, float], exact: Fraction, form: Format, mode: str) -> float:
    """A sum of two terms, of which only the signs and their exact sum matter."""
    signs = {math.copysign(1.0, term) for term in terms}
    zero = math.copysign(0.0, signs.pop()) if len(signs) == 1 else (-0.0 if mode == "rm" else 0.0)
    return rounded(exact, form, mode, zero)


def fma(x: float, y: float, z: float, form: Format, mode: str) -> float:
    """x * y + z with one rounding."""
    if all(math.isfinite(value) for value in (x, y, z)):
        sign_of_product = math.copysign(1.0, x) * math.copysign(1.0, y)
        return _sum((sign_of_product, z), Fraction(x) * Fraction(y) + Fraction(z), form, mode)
    if math.isfinite(x) and math.isfinite(y):
        return z
    return x * y + z


def add(x: float, y: float, form: Format, mode: str) -> float:
    """x + y."""
    return fma(x, 1.0, y, form, mode)


def sub(x: float, y: float, form: Format, mode: str) -> float:
    """x - y."""
    return fma(x, 1.0, -y, form, mode)


def mul(x: float, y: float, form: Format, mode: str) -> float:
    """x * y."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y
    return rounded(Fraction(x) * Fraction(y), form, mode, math.copysign(0.0, x) * math.copysign(1.0, y))


def div(x: float, y: float, form: Format, mode: str) -> float:
    """x / y."""
    sign = math.copysign(1.0, x) * math.copysign(1.0, y)
    if math.isnan(x) or math.isnan(y) or (math.isinf(x) and math.isinf(y)) or (x == 0 and y == 0):
        return math.nan
    if math.isinf(x) or y == 0:
        return sign * math.inf
    if math.isinf(y) or x == 0:
        return sign * 0.0
    return rounded(Fraction(x) / Fraction(y), form, mode)


def rcp(x: float, form: Format, mode: str) -> float:
    """1 / x."""
    return div(1.0, x, form, mode)


def sqrt(x: float, form: Format, mode: str) -> float:
    """The square root, from an integer root that is far longer than the format and says in its last place whether it is exact."""
    if x == 0 or x == math.inf:
        return x
    if not x > 0:
        return math.nan
    scaled = Fraction(x) * (1 << 2400)
    assert scaled.denominator == 1
    root = math.isqrt(scaled.numerator)
    inexact = root * root != scaled.numerator
    return rounded(Fraction(2 * root + inexact, 1 << 1201), form, mode)


def to_integer(x: float, bits: int, signed: bool, mode: str, *, from_f32: bool) -> int:
    """cvt from a float: saturated; a NaN is the top bit alone, but 0 for an f32 that becomes up to 32 bits."""
    if math.isnan(x):
        return 0 if from_f32 and bits <= 32 else 1 << (bits - 1)
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if math.isinf(x):
        number = most if x > 0 else least
    else:
        number = _whole(abs(Fraction(x)), mode, x < 0) * (-1 if x < 0 else 1)
    return min(max(number, least), most) % (1 << bits)
