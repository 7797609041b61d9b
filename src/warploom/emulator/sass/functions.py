"""The functions of SASS' special-function unit (MUFU), FCHK, and those of bytes, lane by lane.

Those of MUFU are computed in double precision and then rounded once. Subnormal numbers count as zeros on both sides, except for
the hyperbolic tangent: code that needs them scales its operands.
"""

from __future__ import annotations

import math

import numpy as np

from warploom.base.records import Lanes, int64
from warploom.emulator.pointers import bits_from_double, bits_from_float, double_from_bits, float_from_bits, get32, put32
from warploom.emulator.sass.packed import PACKED, packed
from warploom.jit import callee

NAN32 = np.uint32(0x7FFFFFFF)
NAN64_HIGH = np.uint32(0x7FFFFFFF)

FUNCTIONS: tuple[str, ...] = ("mufu.rcp", "mufu.rsq", "mufu.sqrt", "mufu.sin", "mufu.cos", "mufu.ex2", "mufu.lg2", "mufu.tanh")
FUNCTIONS += ("mufu.rcp64h", "mufu.rsq64h", "fchk")
RCP, RSQ, SQRT, SIN, COS, EX2, LG2, TANH, RCP64H, RSQ64H, FCHK = range(len(FUNCTIONS))
FIRST_PACKED = len(FUNCTIONS)
FUNCTIONS += PACKED
_TURN = 2.0 * math.pi


@callee
def _flushed(bits: np.uint32) -> np.uint32:
    return bits & np.uint32(0x80000000) if bits & np.uint32(0x7F800000) == 0 else bits


@callee
def _single(number: int, x: float) -> float:
    """A function of one number. Angles of sine and cosine are in turns."""
    if number == RCP:
        return 1.0 / x
    if number == RSQ:
        if x == 0.0:
            return math.copysign(np.inf, x)
        return 1.0 / math.sqrt(x) if x > 0.0 else np.nan
    if number == SQRT:
        return math.sqrt(x) if x >= 0.0 else np.nan
    if number in (SIN, COS):
        if not math.isfinite(x):
            return np.nan
        angle = (x - math.floor(x)) * _TURN
        return math.sin(angle) if number == SIN else math.cos(angle)
    if number == EX2:
        return np.exp2(x)
    if number == LG2:
        return np.log2(x) if x > 0.0 else -np.inf if x == 0.0 else np.nan
    return math.tanh(x)


@callee
def _upper_double(number: int, high: np.uint32) -> np.uint32:
    """The upper word of a function of the double whose upper word is given; the lower ones are zero."""
    if high & np.uint32(0x7FF00000) == 0:
        high &= np.uint32(0x80000000)
    x = double_from_bits(np.uint64(high) << np.uint64(32))
    if number == RCP64H:
        y = 1.0 / x
    elif x == 0.0:
        y = math.copysign(np.inf, x)
    else:
        y = 1.0 / math.sqrt(x) if x > 0.0 else np.nan
    if math.isnan(y):
        return NAN64_HIGH
    word = np.uint32(bits_from_double(y) >> np.uint64(32))
    return word & np.uint32(0x80000000) if word & np.uint32(0x7FF00000) == 0 else word


@callee
def _needs_care(x: np.uint32, y: np.uint32) -> bool:
    """FCHK: whether x / y has to go the long way because the short one would leave the range of exponents."""
    top, bottom = int64((x >> np.uint32(23)) & np.uint32(255)), int64((y >> np.uint32(23)) & np.uint32(255))
    if top == 255 or bottom == 255 or bottom == 0 or bottom >= 253:
        return True
    return top <= 24 or top - bottom >= 125 or top - bottom <= -125


@callee
def functions(number: int, a: int, b: int, out: int) -> Lanes:
    """Execute one operation of `FUNCTIONS`; operands are addresses of rows. Returns the predicate that it yields."""
    mask = np.uint32(0)
    for lane in range(32):
        at = 4 * lane
        word = get32(a + at)
        if number >= FIRST_PACKED:
            put32(out + at, packed(number - FIRST_PACKED, word, get32(b + at)))
        elif number == FCHK:
            if _needs_care(word, get32(b + at)):
                mask |= np.uint32(1) << np.uint32(lane)
        elif number in (RCP64H, RSQ64H):
            put32(out + at, _upper_double(number, word))
        else:
            keeps = number == TANH  # the only one that keeps subnormal numbers
            result = np.float32(_single(number, np.float64(float_from_bits(word if keeps else _flushed(word)))))
            bits = bits_from_float(result)
            put32(out + at, NAN32 if math.isnan(result) else bits if keeps else _flushed(bits))
    return mask
