"""Operations that are computed lane by lane: the approximate functions of PTX, in double precision and then rounded once.

That is closer than the error which PTX allows, with the ranges and special cases that it prescribes.
"""

from __future__ import annotations

import math

import numpy as np

from warploom.base.records import int64
from warploom.emulator.pointers import bits_from_double, double_from_bits, get32, get_f32, put32, put_f32
from warploom.jit import callee

NAN32 = np.uint32(0x7FFFFFFF)
NAN64 = np.uint64(0x7FFFFFFF00000000)

SPECIAL: tuple[str, ...] = ("sin.f32", "cos.f32", "lg2.f32", "ex2.f32", "tanh.f32", "rsqrt.f32", "div.approx.f32")
SPECIAL += ("rcp.approx.f64", "rsqrt.approx.f64", "rsqrt.f64", "fns")
SIN, COS, LG2, EX2, TANH, RSQRT, DIVIDE, RCP64, RSQRT64, RSQRT_FULL, FNS = range(len(SPECIAL))
_LARGE = np.float32(2.0**126)


@callee
def _single(number: int, x: np.float32, y: np.float32) -> np.float32:
    """An approximate function of f32."""
    wide = np.float64(x)
    if number == SIN:
        return np.float32(math.sin(wide)) if math.isfinite(wide) else np.float32(np.nan)
    if number == COS:
        return np.float32(math.cos(wide)) if math.isfinite(wide) else np.float32(np.nan)
    if number == LG2:
        if wide > 0.0:
            return np.float32(np.log2(wide))
        return np.float32(-np.inf) if wide == 0.0 else np.float32(np.nan)
    if number == EX2:
        return np.float32(np.exp2(wide))
    if number == TANH:
        return np.float32(math.tanh(wide))
    if number == RSQRT:
        if wide == 0.0:
            return np.float32(math.copysign(np.inf, wide))
        return np.float32(1.0 / math.sqrt(wide)) if wide > 0.0 else np.float32(np.nan)
    # div.approx: a times the reciprocal of b, which is 0 for a very large b
    if abs(y) > _LARGE and math.isfinite(y):
        if math.isinf(x) or math.isnan(x):
            return np.float32(np.nan)
        return np.float32(math.copysign(0.0, wide) * math.copysign(1.0, np.float64(y)))
    return np.float32(wide / np.float64(y))


@callee
def _double(number: int, x: float) -> float:
    """rcp.approx.ftz.f64, rsqrt.approx.ftz.f64 and rsqrt.approx.f64."""
    if number == RCP64:
        return 1.0 / x
    if x == 0.0:
        return math.copysign(np.inf, x)
    return 1.0 / math.sqrt(x) if x > 0.0 else np.nan


@callee
def _nth_set(mask: np.uint32, base: np.uint32, offset: int) -> np.uint32:
    """fns: the position of the offset-th bit at or above (below, if negative) the base; all ones if there is none."""
    step = 1 if offset >= 0 else -1
    wanted = abs(offset)
    if wanted == 0:
        wanted = 1
        if base < 32 and (mask >> base) & 1:
            return np.uint32(base)
        return np.uint32(0xFFFFFFFF)
    position = int64(base)
    while 0 <= position < 32:
        if (mask >> np.uint32(position)) & 1:
            wanted -= 1
            if wanted == 0:
                return np.uint32(position)
        position += step
    return np.uint32(0xFFFFFFFF)


@callee
def special(number: int, a: int, b: int, c: int, out: int) -> None:
    """Execute one operation of `SPECIAL`; operands are addresses of rows."""
    if number == FNS:
        for lane in range(0, 128, 4):
            put32(out + lane, _nth_set(get32(a + lane), get32(b + lane), int64(np.int32(get32(c + lane)))))
        return
    if number in (RCP64, RSQRT64, RSQRT_FULL):
        for lane in range(0, 128, 4):
            bits = np.uint64(get32(a + lane)) | (np.uint64(get32(a + lane + 128)) << np.uint64(32))
            if number != RSQRT_FULL:  # the forms with .ftz look at the upper word and give one, with zeros below it
                bits &= np.uint64(0xFFFFFFFF00000000)
            result = bits_from_double(_double(number, double_from_bits(bits)))
            if number != RSQRT_FULL:
                is_nan = result & np.uint64(0x7FFFFFFFFFFFFFFF) > np.uint64(0x7FF0000000000000)
                result = NAN64 if is_nan else result & np.uint64(0xFFFFFFFF00000000)
            put32(out + lane, np.uint32(result & np.uint64(0xFFFFFFFF)))
            put32(out + lane + 128, np.uint32(result >> np.uint64(32)))
        return
    for lane in range(0, 128, 4):
        single = _single(number, get_f32(a + lane), get_f32(b + lane))
        if math.isnan(single):
            put32(out + lane, NAN32)
        else:
            put_f32(out + lane, single)
