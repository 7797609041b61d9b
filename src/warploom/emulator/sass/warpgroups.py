"""Products of warpgroups: matrices of up to 64 x 256 that four warps make together, from shared memory that descriptors describe.

A descriptor has 64 bits: where the matrix starts, in units of 16 bytes (14 bits); two distances in the same units (from bits 16
and 32 on), the leading one and the stride; a base offset (bits 49 to 51); how the 16-byte pieces of rows are exchanged (bits 62
and 63: not at all, within 128, 64 or 32 bytes). What the distances lie between depends on whether neighbours along the inner
dimension lie beside each other or those along the outer one (a transposed matrix); `_place` has it.

A product reads what shared memory holds when a warp comes to it, and is done at once: between two barriers, which programs put
around it, nobody can tell. Each warp makes the sixteen rows that its place among four gives it.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from warploom.base.records import int64
from warploom.compiler.code.table import Space
from warploom.emulator.memory import fail
from warploom.emulator.pointers import get8, get16, get32
from warploom.emulator.records import EmulatedMachine, Fault, ResidentCta
from warploom.emulator.sass.matrices import (
    PLACE_BYTES,
    SECOND_AT,
    addend_of,
    places_of,
    put_element,
    put_first,
    put_result,
    sum_up,
)
from warploom.emulator.sass.records import SassInstruction, SassWarp
from warploom.jit import callee


class Transposed(IntEnum):
    """Which matrices have neighbours along the outer dimension beside each other."""

    FIRST = 1
    SECOND = 2


FIRST_TRANSPOSED, SECOND_TRANSPOSED = int(Transposed.FIRST), int(Transposed.SECOND)
SHARED, BOUNDS = int(Space.SHARED), int(Fault.BOUNDS)
ROWS = 16  # of a warp
_WARPS = 4
_UNIT = 16  # bytes
_FIELD = np.uint64((1 << 14) - 1)


@callee
def _units_across(swizzle: int) -> int:
    """How many 16-byte pieces lie beside each other before the next row begins."""
    return 1 if swizzle == 0 else 16 >> swizzle


@callee
def _distance(descriptor: np.uint64, at: int) -> int:
    return int64((descriptor >> np.uint64(at)) & _FIELD) * _UNIT


@callee
def _place(descriptor: np.uint64, transposed: int, outer: int, byte: int, size: int) -> int:
    """The address in shared memory of an element: its number along the outer dimension, its byte along the inner one."""
    start, leading, stride = _distance(descriptor, 0), _distance(descriptor, 16), _distance(descriptor, 32)
    swizzle = int64(descriptor >> np.uint64(62))
    across = _units_across(swizzle)
    if transposed:  # eight rows of the inner dimension, each with so many pieces of the outer one
        inner, along = byte // size, outer * size
        piece = along // _UNIT
        address = along % _UNIT + (piece % across) * _UNIT + (inner & 7) * across * _UNIT
        if swizzle == 0:
            address += (piece // across) * stride + (inner >> 3) * leading
        else:
            address += (piece // across) * leading + (inner >> 3) * stride
    else:  # eight rows of the outer dimension, each with so many pieces of the inner one
        piece = byte // _UNIT
        address = byte % _UNIT + (outer & 7) * across * _UNIT + (outer >> 3) * stride
        address += piece * leading if swizzle == 0 else piece * _UNIT
    address += start
    if swizzle != 0:
        offset = int64((descriptor >> np.uint64(49)) & np.uint64(7)) << 7
        address ^= (((address - offset) >> 7) & (across - 1)) << 4
    return address


@callee
def _fetch(
    machine: EmulatedMachine,
    cta: ResidentCta,
    instruction: SassInstruction,
    descriptor: np.uint64,
    transposed: int,
    outer: int,
    count: int,
    inner: int,
    places: int,
    second: bool,
) -> bool:
    """Take elements of a matrix in shared memory apart: so many from `outer` on, each with all of its inner dimension."""
    size = int64(instruction.size) // 8
    for row in range(count):
        for at in range(inner):
            address = _place(descriptor, transposed, outer + row, at * size, size)
            if address + size > machine.shared_bytes:
                return fail(machine, BOUNDS, 0, address, SHARED)
            if size == 4:
                bits = get32(cta.shared + address)
            elif size == 2:
                bits = np.uint32(get16(cta.shared + address))
            else:
                bits = np.uint32(get8(cta.shared + address))
            put_element(instruction, places + PLACE_BYTES * (row * inner + at), bits, second)
    return True


@callee
def _descriptor(rows: int, row: int) -> np.uint64:
    return np.uint64(get32(rows + row)) | (np.uint64(get32(rows + row + 128)) << np.uint64(32))


@callee
def multiply_warpgroup(
    machine: EmulatedMachine, cta: ResidentCta, warp: SassWarp, instruction: SassInstruction, rows: int, adds: bool
) -> bool:
    """Rows: the result, A or -1, the descriptors, the addend or -1. `elements` columns; `type` tells what is transposed."""
    inner = 256 // int64(instruction.size)
    places = places_of(machine)
    described = int64(instruction.rows[2])
    if instruction.rows[1] >= 0:
        put_first(machine, instruction, rows, inner)
    else:
        outer = ROWS * (int64(warp.number) & (_WARPS - 1))
        transposed = instruction.type & FIRST_TRANSPOSED
        if not _fetch(machine, cta, instruction, _descriptor(rows, described), transposed, outer, ROWS, inner, places, False):
            return False
    transposed = instruction.type & SECOND_TRANSPOSED
    columns, second = int64(instruction.elements), places + SECOND_AT
    described_second = _descriptor(rows, described + 256)
    if not _fetch(machine, cta, instruction, described_second, transposed, 0, columns, inner, second, True):
        return False
    for row in range(ROWS):
        for column in range(columns):
            addend = np.uint32(0)
            if adds and instruction.rows[3] >= 0:
                addend = addend_of(instruction, rows + instruction.rows[3], row, column)
            total = sum_up(machine, instruction, row, column, inner, addend)
            put_result(instruction, rows + instruction.rows[0], row, column, total)
    return True
