"""Surfaces: texels that kernels read and write as bytes, without filtering."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from warploom.base.records import Array, Lanes, int64
from warploom.compiler.code.table import Space
from warploom.emulator.memory import add_sector, fail, log_access
from warploom.emulator.pointers import first_lane, get8, get16, get32, put8, put16, put32
from warploom.emulator.records import EmulatedMachine, EncodedInstruction, Fault, TextureRecord
from warploom.jit import callee

DATA_ROW = 4  # among the rows of an instruction: the first of the words that are moved


class Boundary(IntEnum):
    """What happens outside of a surface."""

    TRAP = 0
    CLAMP = 1
    ZERO = 2  # zeros are read, nothing is written


TRAP, CLAMP = int(Boundary.TRAP), int(Boundary.CLAMP)
FAULT_SURFACE, ALIGNMENT, GLOBAL = int(Fault.SURFACE), int(Fault.ALIGNMENT), int(Space.GLOBAL)


@callee
def _coordinate(rows: int, row: int, lane: int) -> int:
    return int64(np.int32(get32(rows + row + 4 * lane)))


@callee
def _clamped(coordinate: int, most: int) -> int:
    return min(max(coordinate, 0), most)


@callee
def _move(instruction: EncodedInstruction, rows: int, place: int, lane: int, there: bool) -> None:
    """Words of a lane to or from memory; zeros where there is none."""
    size = int64(instruction.size)
    for element in range(instruction.elements):
        row = rows + instruction.rows[DATA_ROW + element] + 4 * lane
        at = place + size * element
        if instruction.operation:
            if not there:
                return
            if size == 4:
                put32(at, get32(row))
            elif size == 2:
                put16(at, np.uint16(get32(row)))
            else:
                put8(at, np.uint8(get32(row)))
        elif not there:
            put32(row, np.uint32(0))
        elif size == 4:
            put32(row, get32(at))
        elif size == 2:
            half = get16(at)
            put32(row, np.uint32(np.int32(np.int16(half))) if instruction.signed else np.uint32(half))
        else:
            byte = get8(at)
            put32(row, np.uint32(np.int32(np.int8(byte))) if instruction.signed else np.uint32(byte))


@callee
def access_surface(
    machine: EmulatedMachine, textures: Array[TextureRecord], instruction: EncodedInstruction, rows: int, mask: Lanes
) -> bool:
    """Read or write a surface for the lanes of the mask.

    Rows: the handle; three coordinates, the first in bytes; the words that are moved. `operation` tells whether it is written,
    `type` what happens outside.
    """
    count = 0
    size = int64(instruction.size) * int64(instruction.elements)
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        handle = int64(get32(rows + instruction.rows[0] + 4 * lane)) - 1
        if handle < 0 or handle >= machine.texture_count:
            return fail(machine, FAULT_SURFACE, lane, handle + 1, GLOBAL)
        surface = textures[handle]
        texel = int64(surface.size) * int64(surface.channels)
        row_bytes, height, depth = texel * surface.width, int64(surface.height), int64(surface.depth)
        x = _coordinate(rows, instruction.rows[1], lane)
        y = _coordinate(rows, instruction.rows[2], lane)
        z = _coordinate(rows, instruction.rows[3], lane)
        if x & (size - 1):
            return fail(machine, ALIGNMENT, lane, x, GLOBAL)
        there = 0 <= x <= row_bytes - size and 0 <= y < height and 0 <= z < depth
        if not there and (instruction.type == TRAP or size > row_bytes):  # in a row that is shorter there is no place at all
            return fail(machine, FAULT_SURFACE, lane, handle + 1, GLOBAL)
        if not there and instruction.type == CLAMP:
            x, y, z = _clamped(x, row_bytes - size), _clamped(y, height - 1), _clamped(z, depth - 1)
            there = True
        address = surface.address + (z * height + y) * row_bytes + x
        _move(instruction, rows, machine.arena - machine.arena_start + address, lane, there)
        if there and machine.tracing:
            count = add_sector(machine, count, np.uint32(address >> 5), np.uint32(1) << np.uint32(lane), 0)
    if machine.tracing:
        log_access(machine, GLOBAL, count, 0)
    return True
