"""Tensor cores: products of small matrices that a warp holds together, and 8 x 8 matrices loaded and transposed.

Products of f16, bf16, tf32 and numbers of 8 bits are exact. So many of them at a time, with the addend, are aligned to the
largest exponent among them, cut off behind a number of bits, and added; the sum is cut off to f32 or rounded to f16. How many and
how many bits differs between architectures (`encode_matrices`). Published measurements describe it so; they do not say how sums
of zeros are signed, which are taken to be +0. Sums of integers are exact. Products of f64 are added one after another, each
rounded once.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numba import types

from warploom.base.records import Lanes, int64
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
from warploom.emulator.records import MOST_ELEMENTS, EmulatedMachine
from warploom.emulator.sass.records import SassInstruction
from warploom.jit import callee, intrinsic

COLUMNS = 8
_HELD_ROW = MOST_ELEMENTS - 1  # among the rows of a store of matrices: what lanes hold
_LOWEST = -100000  # below every exponent
_SINGLE_BITS = 23
NAN32, INFINITY32, MOST_S32, LEAST_S32 = np.uint32(0x7FFFFFFF), np.uint32(0x7F800000), 2**31 - 1, -(2**31)


class Element(IntEnum):
    """What matrices hold; up to `E5M2` numbers whose products are aligned and cut off."""

    F16 = 0
    BF16 = 1
    TF32 = 2
    E4M3 = 3
    E5M2 = 4
    INTEGER = 5
    BITS_AND = 6
    BITS_XOR = 7
    F64 = 8


class MatrixFlag(IntEnum):
    """How elements are read and summed."""

    FIRST_SIGNED = 1
    SECOND_SIGNED = 2
    SATURATED = 4
    FIRST_NEGATED = 8
    SECOND_NEGATED = 16


F16, BF16, TF32, E4M3 = (int(Element[name]) for name in ("F16", "BF16", "TF32", "E4M3"))
INTEGER, BITS_AND, F64 = int(Element.INTEGER), int(Element.BITS_AND), int(Element.F64)
FIRST_SIGNED, SECOND_SIGNED = int(MatrixFlag.FIRST_SIGNED), int(MatrixFlag.SECOND_SIGNED)
FIRST_NEGATED, SECOND_NEGATED = int(MatrixFlag.FIRST_NEGATED), int(MatrixFlag.SECOND_NEGATED)
SATURATED = int(MatrixFlag.SATURATED)
SPARSE = 1  # among `matrices` of a product: A is sparse
INFINITE, NOT_A_NUMBER = 10000, 20000  # instead of exponents

# Elements are taken apart before they are multiplied: an exponent and a significand with its sign, or an integer in its place.
PLACE_BYTES = 8
MOST_INNER = 128
SECOND_AT = 16 * MOST_INNER * PLACE_BYTES  # those of B lie behind sixteen rows of A
_RESULTS_BYTES = 2048
PLACES_BYTES = _RESULTS_BYTES + SECOND_AT + 256 * 32 * PLACE_BYTES
"""How much room for scratch a product takes: its results, and the elements of both matrices."""


@callee
def places_of(machine: EmulatedMachine) -> int:
    """Where elements that are taken apart lie."""
    return machine.saved + _RESULTS_BYTES


@callee
def _fraction_bits(kind: int) -> int:
    """Bits of a significand behind the point."""
    if kind in (F16, TF32):
        return 10
    if kind == BF16:
        return 7
    return 3 if kind == E4M3 else 2


@callee
def _put_number(place: int, bits: np.uint32, kind: int, negated: bool) -> None:
    """Take a number apart. A subnormal one has the least exponent and no leading one."""
    fraction_bits = _fraction_bits(kind)
    if kind == TF32:  # the lower bits of an f32 do not count
        bits = bits >> np.uint32(13)
    exponent_bits = 5 if kind == F16 else 8 if kind in (BF16, TF32) else 4 if kind == E4M3 else 5
    fraction = int64(bits) & ((1 << fraction_bits) - 1)
    exponent = (int64(bits) >> fraction_bits) & ((1 << exponent_bits) - 1)
    top, bias = (1 << exponent_bits) - 1, (1 << (exponent_bits - 1)) - 1
    negative = ((int64(bits) >> (fraction_bits + exponent_bits)) & 1 != 0) != negated
    if kind == E4M3:  # it has no infinities, and one NaN of each sign
        if exponent == top and fraction == 7:
            exponent = NOT_A_NUMBER
    elif exponent == top:
        exponent = INFINITE if fraction == 0 else NOT_A_NUMBER
        fraction = 1
    if exponent == 0:
        exponent = 1 - bias
    elif exponent < INFINITE:
        exponent -= bias
        fraction |= 1 << fraction_bits
    put32(place, np.uint32(exponent & 0xFFFFFFFF))
    put32(place + 4, np.uint32((-fraction if negative else fraction) & 0xFFFFFFFF))


@callee
def _put_integer(place: int, bits: np.uint32, width: int, signed: int) -> None:
    value = int64(bits)
    if signed and width < 32 and value >> (width - 1):
        value -= 1 << width
    put32(place + 4, np.uint32(value & 0xFFFFFFFF))


@callee
def put_element(instruction: SassInstruction, place: int, bits: np.uint32, second: bool) -> None:
    """Take an element apart that a product brings; `second` tells of which matrix."""
    kind = instruction.second_operation if second else instruction.operation
    if kind >= INTEGER:
        _put_integer(place, bits, int64(instruction.size), instruction.signed & (SECOND_SIGNED if second else FIRST_SIGNED))
    else:
        _put_number(place, bits, kind, instruction.signed & (SECOND_NEGATED if second else FIRST_NEGATED) != 0)


@callee
def _from_registers(words: int, register: int, lane: int, bits: int, part: int) -> np.uint32:
    """One element of up to 32 bits out of a register of a lane."""
    word = get32(words + 128 * register + 4 * lane)
    if bits == 32:
        return word
    return (word >> np.uint32(part * bits)) & np.uint32((1 << bits) - 1)


@callee
def put_first(machine: EmulatedMachine, instruction: SassInstruction, rows: int, inner: int) -> None:
    """Take the rows of A apart that the warp holds in registers."""
    bits, height = int64(instruction.size), int64(instruction.matrix_rows)
    each = 32 // bits
    for row in range(height):
        for at in range(inner):
            chunk, rest = at // (4 * each), at % (4 * each)
            register = (row >> 3) + (height >> 3) * chunk
            element = _from_registers(rows + instruction.rows[1], register, (row & 7) * 4 + rest // each, bits, rest % each)
            put_element(instruction, places_of(machine) + PLACE_BYTES * (row * inner + at), element, False)


@callee
def _put_sparse_first(machine: EmulatedMachine, instruction: SassInstruction, rows: int, inner: int) -> None:
    """Take the rows of A apart of which every second element is missing, with zeros in place of those.

    Of each four elements two are there (of tf32, of each two one); four bits tell which. A lane has the bits of four such groups
    for its row and for the row eight below, but of 8-bit integers those of eight groups of one row.
    """
    bits = int64(instruction.size)
    each, group_size = 32 // bits, 2 if bits == 32 else 4
    there = group_size // 2
    lanes = inner // group_size // 4  # that have bits of one row
    for row in range(int64(instruction.matrix_rows)):
        for at in range(inner):
            put_element(instruction, places_of(machine) + PLACE_BYTES * (row * inner + at), np.uint32(0), False)
        for at in range(inner // 2):
            chunk, rest = at // (4 * each), at % (4 * each)
            register = (row >> 3) + 2 * chunk
            element = _from_registers(rows + instruction.rows[1], register, (row & 7) * 4 + rest // each, bits, rest % each)
            group = at // there
            if bits == 8:
                lane, down = 2 * (int64(instruction.type) + (group >> 3)) + (row >> 3), 4 * (group & 7)
            else:
                lane, down = lanes * int64(instruction.type) + (group >> 2), 16 * (row >> 3) + 4 * (group & 3)
            tells = get32(rows + instruction.rows[4] + 4 * ((row & 7) * 4 + lane)) >> np.uint32(down)
            if there == 1:
                which = int64((tells >> np.uint32(1)) & np.uint32(1))
            else:
                which = int64((tells >> np.uint32(2 * (at & 1))) & np.uint32(3))
            place = places_of(machine) + PLACE_BYTES * (row * inner + group * group_size + which)
            put_element(instruction, place, element, False)


@callee
def _put_second(machine: EmulatedMachine, instruction: SassInstruction, rows: int, inner: int) -> None:
    """Take the columns of B apart, which are rows of places."""
    bits = int64(instruction.size)
    each = 32 // bits
    for column in range(COLUMNS):
        for at in range(inner):
            chunk, rest = at // (4 * each), at % (4 * each)
            element = _from_registers(rows + instruction.rows[2], chunk, column * 4 + rest // each, bits, rest % each)
            put_element(instruction, places_of(machine) + SECOND_AT + PLACE_BYTES * (column * inner + at), element, True)


@callee
def _exponent(place: int) -> int:
    return int64(np.int32(get32(place)))


@callee
def _significand(place: int) -> int:
    return int64(np.int32(get32(place + 4)))


@callee
def _aligned(significand: int, bits: int, kept: int, down: int) -> int:
    """A significand with so many bits behind the point, with `kept` of them, moved down; what falls off is lost."""
    if kept < bits:
        down += bits - kept
        kept = bits
    if down > 62:
        return 0
    return (significand << (kept - bits)) >> down


@callee
def _cut_to_single(total: int, exponent: int, kept: int) -> np.uint32:
    """The f32 of total x 2**(exponent - kept), cut off; where fewer bits than its own are kept, it has no more of them."""
    if total == 0:
        return np.uint32(0)
    sign = np.uint32(0x80000000) if total < 0 else np.uint32(0)
    size = abs(total)
    top = 0
    while size >> (top + 1) != 0:
        top += 1
    power = exponent - kept + top
    if power > 127:
        return sign | INFINITY32
    last = max(power, -126) - _SINGLE_BITS  # what the last bit of an f32 weighs
    lowest = max(power - min(kept, _SINGLE_BITS), last)
    shift = lowest - (exponent - kept)
    units = (size >> shift if shift >= 0 else size << -shift) << (lowest - last)
    if power < -126:
        return sign | np.uint32(units)
    return sign | np.uint32(((power + 127) << _SINGLE_BITS) | (units & 0x7FFFFF))


@callee
def _as_double(place: int) -> float:
    """A number whose sign is right, and whether it is zero, infinite or none."""
    exponent = _exponent(place)
    if exponent == NOT_A_NUMBER:
        return np.nan
    return np.float64(_significand(place)) * (np.inf if exponent == INFINITE else 1.0)


@callee
def _special_sum(first: int, second: int, count: int, addend: np.uint32) -> np.uint32:
    """The sum where something is infinite or no number."""
    total = np.float64(float_from_bits(addend))
    for at in range(count):
        total += _as_double(first + PLACE_BYTES * at) * _as_double(second + PLACE_BYTES * at)
    if np.isnan(total):
        return NAN32
    return INFINITY32 if total > 0 else INFINITY32 | np.uint32(0x80000000)


@callee
def _sum_of_products(instruction: SassInstruction, first: int, second: int, count: int, addend: np.uint32) -> np.uint32:
    """Products of so many elements and the addend (bits of an f32), aligned, cut off and added; bits of an f32."""
    kept = int64(instruction.sum_bits)
    bits = _fraction_bits(instruction.operation) + _fraction_bits(instruction.second_operation)
    addend_exponent = int64((addend >> np.uint32(23)) & np.uint32(255))
    largest = _LOWEST
    if addend & np.uint32(0x7FFFFFFF) != 0:
        largest = max(addend_exponent, 1) - 127
    special = addend_exponent == 255
    for at in range(count):
        x, y = _exponent(first + PLACE_BYTES * at), _exponent(second + PLACE_BYTES * at)
        special = special or x >= INFINITE or y >= INFINITE
        if _significand(first + PLACE_BYTES * at) * _significand(second + PLACE_BYTES * at) != 0:
            largest = max(largest, x + y)
    if special:
        return _special_sum(first, second, count, addend)
    if largest == _LOWEST:
        return np.uint32(0)
    significand = int64(addend & np.uint32(0x7FFFFF)) | (0x800000 if addend_exponent != 0 else 0)
    total = _aligned(significand, _SINGLE_BITS, kept, largest - (max(addend_exponent, 1) - 127))
    if addend >> np.uint32(31):
        total = -total
    for at in range(count):
        one, other = first + PLACE_BYTES * at, second + PLACE_BYTES * at
        product = _significand(one) * _significand(other)
        term = _aligned(abs(product), bits, kept, largest - _exponent(one) - _exponent(other))
        total += -term if product < 0 else term
    if instruction.wide_registers:  # an accumulator of f32
        return _cut_to_single(total, largest, kept)
    half = f16_from_double(np.float64(total) * 2.0 ** np.float64(largest - kept))
    return bits_from_float(single_from_f16(half))


@callee
def _sum_of_integers(instruction: SassInstruction, first: int, second: int, count: int, addend: np.uint32) -> np.uint32:
    kind = instruction.operation
    total = int64(np.int32(addend))
    for at in range(count):
        x, y = first + PLACE_BYTES * at, second + PLACE_BYTES * at
        if kind == INTEGER:
            total += _significand(x) * _significand(y)
        else:
            bits = get32(x + 4) & get32(y + 4) if kind == BITS_AND else get32(x + 4) ^ get32(y + 4)
            total += int64(count_ones(bits))
    if instruction.signed & SATURATED:
        total = min(max(total, LEAST_S32), MOST_S32)
    return np.uint32(total & 0xFFFFFFFF)


@callee
def sum_up(
    machine: EmulatedMachine, instruction: SassInstruction, row: int, column: int, inner: int, addend: np.uint32
) -> np.uint32:
    """An element of the result, from elements that are taken apart."""
    first = places_of(machine) + PLACE_BYTES * row * inner
    second = places_of(machine) + SECOND_AT + PLACE_BYTES * column * inner
    if instruction.operation >= INTEGER:
        return _sum_of_integers(instruction, first, second, inner, addend)
    step = int64(instruction.sum_length)
    total = addend
    for at in range(0, inner, step):
        along = PLACE_BYTES * at
        total = _sum_of_products(instruction, first + along, second + along, min(step, inner - at), total)
    return total


@callee
def put_result(instruction: SassInstruction, registers: int, row: int, column: int, bits: np.uint32) -> None:
    """Put an element of the result where its lane has it."""
    lane, eights = (row & 7) * 4 + ((column & 7) >> 1), column >> 3
    if instruction.wide_registers:
        put32(registers + 128 * (4 * eights + 2 * (row >> 3) + (column & 1)) + 4 * lane, bits)
    else:
        half = f16_from_double(np.float64(float_from_bits(bits)))
        put16(registers + 128 * (2 * eights + (row >> 3)) + 4 * lane + 2 * (column & 1), np.uint16(half))


@callee
def addend_of(instruction: SassInstruction, registers: int, row: int, column: int) -> np.uint32:
    """An element of the addend, as f32 where it is a number of half precision."""
    place, eights = registers + 4 * ((row & 7) * 4 + ((column & 7) >> 1)), column >> 3
    if instruction.wide_registers:
        return get32(place + 128 * (4 * eights + 2 * (row >> 3) + (column & 1)))
    return bits_from_float(single_from_f16(np.uint32(get16(place + 128 * (2 * eights + (row >> 3)) + 2 * (column & 1)))))


@intrinsic
def _fused(_typing: Any, x: float, y: float, z: float) -> Any:
    """x * y + z, rounded once."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@callee
def _double(words: int, lane: int) -> float:
    return double_from_bits(np.uint64(get32(words + 4 * lane)) | (np.uint64(get32(words + 128 + 4 * lane)) << np.uint64(32)))


@callee
def _multiply_doubles(instruction: SassInstruction, rows: int, saved: int) -> None:
    """Matrices of f64: of A a lane has an element of each eight rows by four, of the result two neighbours of each eight rows."""
    eights = int64(instruction.matrix_rows) >> 3
    fours = int64(instruction.elements) >> 1  # an element has two words
    for lane in range(32):
        for place in range(2 * eights):
            column = 2 * (lane & 3) + (place & 1)
            total = _double(rows + instruction.rows[3] + 256 * place, int64(lane))
            for at in range(4 * fours):
                pair = (place >> 1) + eights * (at >> 2)
                x = _double(rows + instruction.rows[1] + 256 * pair, int64(lane & ~3) + (at & 3))
                y = _double(rows + instruction.rows[2] + 256 * (at >> 2), int64(4 * column) + (at & 3))
                total = _fused(x, y, total)
            bits = bits_from_double(total)
            put32(saved + 256 * place + 4 * lane, np.uint32(bits & np.uint64(0xFFFFFFFF)))
            put32(saved + 256 * place + 128 + 4 * lane, np.uint32(bits >> np.uint64(32)))


@callee
def multiply_matrices(machine: EmulatedMachine, instruction: SassInstruction, rows: int, mask: Lanes) -> None:
    """Rows: the result, A, B, the addend. Lanes outside of the mask take part but keep what they hold."""
    if instruction.operation == F64:
        _multiply_doubles(instruction, rows, machine.saved)
    else:
        inner = int64(instruction.elements) * 4 * (32 // int64(instruction.size))
        if instruction.matrices == SPARSE:
            _put_sparse_first(machine, instruction, rows, inner)
        else:
            put_first(machine, instruction, rows, inner)
        _put_second(machine, instruction, rows, inner)
        for row in range(int64(instruction.matrix_rows)):
            for column in range(COLUMNS):
                addend = addend_of(instruction, rows + instruction.rows[3], row, column)
                put_result(instruction, machine.saved, row, column, sum_up(machine, instruction, row, column, inner, addend))
    for index in range(instruction.writes):
        target = rows + instruction.write_rows[index]
        copy_row(machine.saved + 1024, target)
        copy_row(target, machine.saved + 128 * index)
        restore_lanes(target, machine.saved + 1024, mask)


@callee
def transpose_matrix(machine: EmulatedMachine, instruction: SassInstruction, rows: int, mask: Lanes) -> None:
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
def gather_matrices(instruction: SassInstruction, rows: int) -> None:
    """Lanes 8 m to 8 m + 7 get the rows of matrix m, 16 bytes each, of which every lane holds two elements."""
    held = rows + instruction.rows[_HELD_ROW]
    for matrix in range(int64(instruction.matrices)):
        for row in range(8):
            for column in range(8):
                across, down = (row, column) if instruction.signed else (column, row)  # transposed
                half = get16(held + 128 * matrix + 4 * (4 * down + (across >> 1)) + 2 * (across & 1))
                put16(rows + instruction.rows[column >> 1] + 4 * (8 * matrix + row) + 2 * (column & 1), half)


@callee
def spread_matrices(instruction: SassInstruction, rows: int, mask: Lanes) -> None:
    """Lanes 8 m to 8 m + 7 have loaded the rows of matrix m, 16 bytes each; every lane gets two elements of each matrix."""
    for matrix in range(int64(instruction.matrices)):
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
