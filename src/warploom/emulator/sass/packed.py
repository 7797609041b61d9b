"""Functions of the bytes or halves of a word, for one lane: numbers of 8 bits, differences, sums and extremes.

Numbers of 8 bits have a sign, four or five bits of exponent and three or two of fraction. Those with four have no infinities:
what is too large becomes the largest number, as code asks for, and a NaN has all bits set.
"""

from __future__ import annotations

import numpy as np

from warploom.base.records import int64
from warploom.emulator.half_numbers import NAN16, f16_from_double, single_from_f16
from warploom.emulator.pointers import float_from_bits
from warploom.jit import callee

PACKED: tuple[str, ...] = ("pack.e4m3", "pack.e5m2", "pack.e4m3.f16", "pack.e5m2.f16", "unpack.e4m3", "unpack.e5m2")
PACKED += ("differences.u8", "differences.s8", "add.16x2", "min.s16x2", "max.s16x2", "min.u16x2", "max.u16x2", "first.bytes")
PACK_E4M3, PACK_E5M2, HALVES_E4M3, HALVES_E5M2, UNPACK_E4M3, UNPACK_E5M2 = range(6)
DIFFERENCES_U8, DIFFERENCES_S8, ADD, MIN_S, MAX_S, MIN_U, MAX_U, FIRST_BYTES = range(6, len(PACKED))
_NAN8 = np.uint32(0x7F)


@callee
def _small(x: float, fraction_bits: int) -> np.uint32:
    """The eight bits of the nearest number; what is too large becomes the largest."""
    if np.isnan(x):
        return _NAN8
    sign = np.uint32(0x80) if np.signbit(x) else np.uint32(0)
    least, largest, most = (-6, np.uint32(0x7E), 448.0) if fraction_bits == 3 else (-14, np.uint32(0x7B), 57344.0)
    size = abs(x)
    if size >= most:
        return sign | largest
    exponent = int64(least)
    while size >= 2.0 ** (exponent + 1):
        exponent += 1
    units = int64(np.rint(size * 2.0 ** (fraction_bits - exponent)))  # rint rounds to even
    # A carry out of the fraction goes on into the exponent, which is what it should do.
    bits = np.uint32(((exponent - least) << fraction_bits) + units)
    return sign | min(bits, largest)


@callee
def _half(bits: np.uint32, fraction_bits: int) -> np.uint32:
    """The f16 of eight bits."""
    magnitude = int64(bits & np.uint32(0x7F))
    sign = (bits & np.uint32(0x80)) << np.uint32(8)
    if fraction_bits == 2:  # the upper half of an f16
        return NAN16 if magnitude > 0x7C else np.uint32(bits << np.uint32(8))
    if magnitude == 0x7F:
        return NAN16
    exponent, fraction = magnitude >> 3, magnitude & 7
    size = np.float64(fraction) * 2.0**-9 if exponent == 0 else np.float64(fraction + 8) * 2.0 ** np.float64(exponent - 10)
    return sign | f16_from_double(size)


@callee
def _differences(x: np.uint32, y: np.uint32, signed: bool) -> np.uint32:
    word = np.uint32(0)
    for byte in range(4):
        down = np.uint32(8 * byte)
        a, b = int64((x >> down) & np.uint32(255)), int64((y >> down) & np.uint32(255))
        if signed:
            a, b = int64(np.int8(a)), int64(np.int8(b))
        word |= np.uint32(abs(a - b) & 255) << down
    return word


@callee
def _of_halves(number: int, x: np.uint32, y: np.uint32) -> np.uint32:
    """A sum, or the lesser or greater one."""
    a, b = int64(x), int64(y)
    if number in (MIN_S, MAX_S):
        a, b = int64(np.int16(a)), int64(np.int16(b))
    if number == ADD:
        a += b
    elif number in (MIN_S, MIN_U):
        a = min(a, b)
    else:
        a = max(a, b)
    return np.uint32(a & 0xFFFF)


@callee
def packed(number: int, x: np.uint32, y: np.uint32) -> np.uint32:
    """One operation of `PACKED` on one or two words."""
    if number == FIRST_BYTES:  # as many as the second word says; the others become zero
        count = int64(np.int32(y))
        return np.uint32(0) if count <= 0 else x if count >= 4 else x & np.uint32((1 << 8 * count) - 1)
    if number >= ADD:
        low = _of_halves(number, x & np.uint32(0xFFFF), y & np.uint32(0xFFFF))
        return np.uint32(low | (_of_halves(number, x >> np.uint32(16), y >> np.uint32(16)) << np.uint32(16)))
    if number >= DIFFERENCES_U8:
        return _differences(x, y, number == DIFFERENCES_S8)
    fraction_bits = 3 if number in (PACK_E4M3, HALVES_E4M3, UNPACK_E4M3) else 2
    if number in (UNPACK_E4M3, UNPACK_E5M2):
        low = _half(x & np.uint32(255), fraction_bits)
        return np.uint32(low | (_half((x >> np.uint32(8)) & np.uint32(255), fraction_bits) << np.uint32(16)))
    if number in (HALVES_E4M3, HALVES_E5M2):
        upper = np.float64(single_from_f16(x >> np.uint32(16)))
        lower = np.float64(single_from_f16(x & np.uint32(0xFFFF)))
    else:
        upper, lower = np.float64(float_from_bits(x)), np.float64(float_from_bits(y))
    return np.uint32(_small(lower, fraction_bits) | (_small(upper, fraction_bits) << np.uint32(8)))
