"""Single numbers of half precision, for what is not done on all lanes at once: atomics, sums of tensor cores."""

from __future__ import annotations

import numpy as np

from warploom.base.records import int64
from warploom.emulator.pointers import bits_from_float, float_from_bits
from warploom.jit import callee

NAN16 = np.uint32(0x7FFF)
_SCALE = np.float32(2.0**112)  # between the exponents of f32 and f16


@callee
def single_from_f16(half: np.uint32) -> np.float32:
    """The f32 of sixteen bits of f16."""
    magnitude = half & np.uint32(0x7FFF)
    bits = bits_from_float(np.float32(float_from_bits(np.uint32(magnitude << np.uint32(13))) * _SCALE))
    if magnitude >= np.uint32(0x7C00):
        bits |= np.uint32(0x7F800000)
    return float_from_bits(np.uint32(bits | ((half & np.uint32(0x8000)) << np.uint32(16))))


@callee
def f16_from_double(x: float) -> np.uint32:
    """The sixteen bits of the f16 nearest to an f64; a NaN is 0x7fff."""
    if np.isnan(x):
        return NAN16
    sign = np.uint32(0x8000) if np.signbit(x) else np.uint32(0)
    size = abs(x)
    if size >= 65520.0:
        return sign | np.uint32(0x7C00)
    exponent = -14  # of the result
    while exponent < 15 and size >= 2.0 ** (exponent + 1):
        exponent += 1
    units = int64(np.rint(size * 2.0 ** (10 - exponent)))  # rint rounds to even
    # A carry out of the fraction goes on into the exponent, which is what it should do.
    base = int64(exponent + 14) << 10
    return sign | np.uint32(base + units)


@callee
def bf16_from_single(x: np.float32) -> np.uint32:
    """The sixteen bits of the bf16 nearest to an f32; a NaN is 0x7fff."""
    if np.isnan(x):
        return NAN16
    bits = bits_from_float(x)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    return np.uint32((bits + np.uint32(0x7FFF) + odd) >> np.uint32(16))


@callee
def add_f16_pairs(x: np.uint32, y: np.uint32) -> np.uint32:
    """Two sums of f16."""
    low = f16_from_double(np.float64(single_from_f16(x & np.uint32(0xFFFF))) + np.float64(single_from_f16(y & np.uint32(0xFFFF))))
    high = f16_from_double(np.float64(single_from_f16(x >> np.uint32(16))) + np.float64(single_from_f16(y >> np.uint32(16))))
    return np.uint32(low | (high << np.uint32(16)))


@callee
def add_bf16_pairs(x: np.uint32, y: np.uint32) -> np.uint32:
    """Two sums of bf16, which are those of f32 rounded once more: it has more than twice the bits."""
    low = bf16_from_single(
        np.float32(float_from_bits(np.uint32(x << np.uint32(16))) + float_from_bits(np.uint32(y << np.uint32(16))))
    )
    upper = np.uint32(0xFFFF0000)
    high = bf16_from_single(np.float32(float_from_bits(np.uint32(x & upper)) + float_from_bits(np.uint32(y & upper))))
    return np.uint32(low | (high << np.uint32(16)))
