"""Tensor cores: products of small matrices that a warp holds together, and 8 x 8 matrices loaded and transposed.

Products of f16, bf16 and tf32 are exact. So many of them at a time, with the addend, are aligned to the largest exponent among
them, cut off behind a number of bits, and added; the sum is cut off to f32 or rounded to f16. How many and how many bits differs
between architectures (`encode_matrices`). Published measurements describe it so; they do not say how sums of zeros are signed,
which are taken to be +0. Sums of integers are exact. Products of f64 are added one after another, each rounded once.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numba import types

from warploom.emulator.half_numbers import f16_from_double, single_from_f16
from warploom.emulator.pointers import (
    bits_from_double,
    bits_from_float,
    copy_row,
    count_ones,
    double_from_bits,
    float_from_bits,
    get16,
    get32,
    put16,
    put32,
    restore_lanes,
)
from warploom.jit import callee, intrinsic

COLUMNS = 8
_LOWEST = np.int64(-10000)  # below every exponent
_SINGLE_BITS = np.int64(23)
NAN32, INFINITY32, MOST_S32, LEAST_S32 = np.uint32(0x7FFFFFFF), np.uint32(0x7F800000), 2**31 - 1, -(2**31)


class Element(IntEnum):
    """What matrices hold."""

    F16 = 0
    BF16 = 1
    TF32 = 2
    INTEGER = 3
    BITS_AND = 4
    BITS_XOR = 5
    F64 = 6


class MatrixFlag(IntEnum):
    """How integers are read and summed."""

    FIRST_SIGNED = 1
    SECOND_SIGNED = 2
    SATURATED = 4


F16, BF16, TF32, INTEGER = (int(Element[name]) for name in ("F16", "BF16", "TF32", "INTEGER"))
BITS_AND, F64 = int(Element.BITS_AND), int(Element.F64)
FIRST_SIGNED, SECOND_SIGNED = int(MatrixFlag.FIRST_SIGNED), int(MatrixFlag.SECOND_SIGNED)
SATURATED = int(MatrixFlag.SATURATED)


@callee
def _element(words, register, lane, bits, part):
    """One element of up to 32 bits out of a register of a lane."""
    word = get32(words + 128 * register + 4 * lane)
    if bits == 32:
        return word
    return (word >> np.uint32(part * bits)) & np.uint32((1 << bits) - 1)


@callee
def _first_element(instruction, rows, row, at):
    """Element `at` of a row of A."""
    bits = np.int64(instruction.size)
    each = np.int64(32) // bits
    chunk, rest = at // (4 * each), at % (4 * each)
    register = (row >> 3) + (np.int64(instruction.matrix_rows) >> 3) * chunk
    return _element(rows + instruction.rows[1], register, (row & 7) * 4 + rest // each, bits, rest % each)


@callee
def _second_element(instruction, rows, column, at):
    """Element `at` of a column of B."""
    bits = np.int64(instruction.size)
    each = np.int64(32) // bits
    chunk, rest = at // (4 * each), at % (4 * each)
    return _element(rows + instruction.rows[2], chunk, column * 4 + rest // each, bits, rest % each)


@callee
def _taken_apart(bits, kind):
    """Exponent and significand of a number; that of a subnormal one has no leading one. Infinities and NaNs: exponent 10000."""
    if kind == F16:
        fraction, exponent, bias, top = (
            np.int64(bits & np.uint32(0x3FF)),
            np.int64((bits >> np.uint32(10)) & np.uint32(31)),
            15,
            31,
        )
        one = np.int64(0x400)
    elif kind == BF16:
        fraction, exponent, bias, top = (
            np.int64(bits & np.uint32(0x7F)),
            np.int64((bits >> np.uint32(7)) & np.uint32(255)),
            127,
            255,
        )
        one = np.int64(0x80)
    else:  # tf32: the lower bits of an f32 do not count
        fraction = np.int64((bits >> np.uint32(13)) & np.uint32(0x3FF))
        exponent, bias, top = np.int64((bits >> np.uint32(23)) & np.uint32(255)), 127, 255
        one = np.int64(0x400)
    if exponent == top:
        return np.int64(10000), fraction
    if exponent == 0:
        return np.int64(1 - bias), fraction
    return exponent - bias, fraction | one


@callee
def _as_double(bits, kind):
    """The number itself, for what is not finite."""
    if kind == F16:
        return np.float64(single_from_f16(bits))
    if kind == BF16:
        bits = np.uint32(bits << np.uint32(16))
    return np.float64(float_from_bits(bits))


@callee
def _aligned(significand, bits, kept, down):
    """A significand with so many bits behind the point, with `kept` of them, moved down; what falls off is lost."""
    if down > 62:
        return np.int64(0)
    return (significand << (kept - bits)) >> down


@callee
def _cut_to_single(total, exponent, kept):
    """The f32 of total x 2**(exponent - kept), cut off."""
    if total == 0:
        return np.uint32(0)
    sign = np.uint32(0x80000000) if total < 0 else np.uint32(0)
    size = abs(total)
    top = np.int64(0)
    while size >> (top + 1) != 0:
        top += 1
    power = exponent - kept + top
    if power > 127:
        return sign | INFINITY32
    lowest = max(power, np.int64(-126)) - _SINGLE_BITS  # what the last bit of the result weighs
    shift = lowest - (exponent - kept)
    units = size >> shift if shift >= 0 else size << -shift
    if power < -126:
        return sign | np.uint32(units)
    return sign | np.uint32(((power + 127) << _SINGLE_BITS) | (units & np.int64(0x7FFFFF)))


@callee
def _special_sum(instruction, rows, row, column, first, last, addend):
    """The sum where something is infinite or no number."""
    kind = instruction.operation
    total = np.float64(float_from_bits(addend))
    for at in range(first, last):
        x = _as_double(_first_element(instruction, rows, row, at), kind)
        total += x * _as_double(_second_element(instruction, rows, column, at), kind)
    if np.isnan(total):
        return NAN32
    return INFINITY32 if total > 0 else INFINITY32 | np.uint32(0x80000000)


@callee
def _sum_of_products(instruction, rows, row, column, first, last, addend):
    """Products of elements first to last and the addend (bits of an f32), aligned, cut off and added; bits of an f32."""
    kind = instruction.operation
    kept = np.int64(instruction.sum_bits)
    bits = np.int64(14 if kind == BF16 else 20)  # of a product behind the point
    addend_exponent = np.int64((addend >> np.uint32(23)) & np.uint32(255))
    largest = _LOWEST
    if addend & np.uint32(0x7FFFFFFF) != 0:
        largest = max(addend_exponent, np.int64(1)) - 127
    special = addend_exponent == 255
    for at in range(first, last):
        x, significand_x = _taken_apart(_first_element(instruction, rows, row, at), kind)
        y, significand_y = _taken_apart(_second_element(instruction, rows, column, at), kind)
        special = special or x == 10000 or y == 10000
        if significand_x * significand_y != 0:
            largest = max(largest, x + y)
    if special:
        return _special_sum(instruction, rows, row, column, first, last, addend)
    if largest == _LOWEST:
        return np.uint32(0)
    significand = np.int64(addend & np.uint32(0x7FFFFF)) | (np.int64(0x800000) if addend_exponent != 0 else np.int64(0))
    total = _aligned(significand, _SINGLE_BITS, kept, largest - (max(addend_exponent, np.int64(1)) - 127))
    if addend >> np.uint32(31):
        total = -total
    sign_bit = np.uint32(np.int64(instruction.size) - 1)
    for at in range(first, last):
        first_bits = _first_element(instruction, rows, row, at)
        second_bits = _second_element(instruction, rows, column, at)
        x, significand_x = _taken_apart(first_bits, kind)
        y, significand_y = _taken_apart(second_bits, kind)
        term = _aligned(significand_x * significand_y, bits, kept, largest - x - y)
        total += -term if ((first_bits ^ second_bits) >> sign_bit) & 1 else term
    if instruction.wide_registers:  # an accumulator of f32
        return _cut_to_single(total, largest, kept)
    half = f16_from_double(np.float64(total) * 2.0 ** np.float64(largest - kept))
    return bits_from_float(single_from_f16(half))


@callee
def _integer(bits, width, signed):
    value = np.int64(bits)
    return value - (np.int64(1) << width) if signed and value >> (width - 1) else value


@callee
def _sum_of_integers(instruction, rows, row, column, inner, addend):
    kind, flags, width = instruction.operation, instruction.signed, np.int64(instruction.size)
    total = np.int64(np.int32(addend))
    if kind == INTEGER:
        for at in range(inner):
            x = _integer(_first_element(instruction, rows, row, at), width, flags & FIRST_SIGNED)
            total += x * _integer(_second_element(instruction, rows, column, at), width, flags & SECOND_SIGNED)
    else:
        for chunk in range(inner // 32):
            register = (row >> 3) + (np.int64(instruction.matrix_rows) >> 3) * (chunk >> 2)
            x = get32(rows + instruction.rows[1] + 128 * register + 4 * ((row & 7) * 4 + (chunk & 3)))
            y = get32(rows + instruction.rows[2] + 128 * (chunk >> 2) + 4 * (column * 4 + (chunk & 3)))
            total += np.int64(count_ones(x & y if kind == BITS_AND else x ^ y))
    if flags & SATURATED:
        total = min(max(total, np.int64(LEAST_S32)), np.int64(MOST_S32))
    return np.uint32(total & np.int64(0xFFFFFFFF))


@callee
def _put_result(instruction, saved, row, column, bits):
    """Keep an element of the result until all are known."""
    lane = (row & 7) * 4 + (column >> 1)
    if instruction.wide_registers:
        put32(saved + 128 * (2 * (row >> 3) + (column & 1)) + 4 * lane, bits)
    else:
        half = f16_from_double(np.float64(float_from_bits(bits)))
        put16(saved + 128 * (row >> 3) + 4 * lane + 2 * (column & 1), np.uint16(half))


@callee
def _addend(instruction, rows, row, column):
    """An element of the addend, as f32 where it is a number of half precision."""
    place = rows + instruction.rows[3] + 4 * ((row & 7) * 4 + (column >> 1))
    if instruction.wide_registers:
        return get32(place + 128 * (2 * (row >> 3) + (column & 1)))
    return bits_from_float(single_from_f16(np.uint32(get16(place + 128 * (row >> 3) + 2 * (column & 1)))))


@intrinsic
def _fused(_typing: Any, x: Any, y: Any, z: Any) -> Any:
    """x * y + z, rounded once."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@callee
def _double(words, lane):
    return double_from_bits(np.uint64(get32(words + 4 * lane)) | (np.uint64(get32(words + 128 + 4 * lane)) << np.uint64(32)))


@callee
def _multiply_doubles(instruction, rows, saved):
    """An 8 x 4 by a 4 x 8 matrix of f64: every lane has one element of each and two neighbours of the result."""
    for lane in range(32):
        for side in range(2):
            column = 2 * (lane & 3) + side
            total = _double(rows + instruction.rows[3] + 256 * side, np.int64(lane))
            for at in range(4):
                x = _double(rows + instruction.rows[1], np.int64(lane & ~3) + at)
                total = _fused(x, _double(rows + instruction.rows[2], np.int64(4 * column) + at), total)
            bits = bits_from_double(total)
            put32(saved + 256 * side + 4 * lane, np.uint32(bits & np.uint64(0xFFFFFFFF)))
            put32(saved + 256 * side + 128 + 4 * lane, np.uint32(bits >> np.uint64(32)))


@callee
def multiply_matrices(machine, instruction, rows, mask):
    """Rows: the result, A, B, the addend. Lanes outside of the mask take part but keep what they hold."""
    if instruction.operation == F64:
        _multiply_doubles(instruction, rows, machine.saved)
    else:
        _multiply_elements(machine, instruction, rows)
    for index in range(instruction.writes):
        target = rows + instruction.write_rows[index]
        copy_row(machine.saved + 1024, target)
        copy_row(target, machine.saved + 128 * index)
        restore_lanes(target, machine.saved + 1024, mask)


@callee
def _multiply_elements(machine, instruction, rows):
    """Elements of up to 32 bits."""
    inner = np.int64(instruction.elements) * 4 * (32 // np.int64(instruction.size))
    step = np.int64(instruction.sum_length)
    for row in range(np.int64(instruction.matrix_rows)):
        for column in range(COLUMNS):
            total = _addend(instruction, rows, row, column)
            if instruction.operation >= INTEGER:
                total = _sum_of_integers(instruction, rows, row, column, inner, total)
            else:
                for first in range(0, inner, step):
                    total = _sum_of_products(instruction, rows, row, column, first, min(first + step, inner), total)
            _put_result(instruction, machine.saved, row, column, total)


@callee
def transpose_matrix(machine, instruction, rows, mask):
    """An 8 x 8 matrix of 16-bit elements, two neighbours of a row in each lane, becomes its transpose."""
    source, target = rows + instruction.rows[1], rows + instruction.rows[0]
    copy_row(machine.saved, source)
    copy_row(machine.saved + 128, target)
    for row in range(8):
        for column in range(8):
            place = 4 * (4 * row + (column >> 1)) + 2 * (column & 1)
            put16(target + place, get16(machine.saved + 4 * (4 * column + (row >> 1)) + 2 * (row & 1)))
    restore_lanes(target, machine.saved + 128, mask)


@callee
def spread_matrices(instruction, rows, mask):
    """Lanes 8 m to 8 m + 7 have loaded the rows of matrix m, 16 bytes each; every lane gets two elements of each matrix."""
    for matrix in range(np.int64(instruction.matrices)):
        target = rows + instruction.write_rows[matrix]
        for lane in range(32):
            if not (mask >> np.uint32(lane)) & 1:
                continue
            for side in range(2):
                row, column = lane >> 2, 2 * (lane & 3) + side
                if instruction.signed:  # transposed
                    row, column = column, row
                word = rows + instruction.rows[column >> 1] + 4 * (8 * matrix + row)
                put16(target + 4 * lane + 2 * side, get16(word + 2 * (column & 1)))
