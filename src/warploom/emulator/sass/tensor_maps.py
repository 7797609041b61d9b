"""Tensor maps: what describes a tensor in device memory to the engine that copies tiles of it to and from shared memory.

CUDA's driver makes 128 bytes of a description, which nobody else understands; ours have a layout of their own. A tile has up to
five dimensions, the innermost first. What lies outside of the tensor is read as zero or as a NaN, and not written.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from warploom.code.table import Space
from warploom.emulator.clusters import OFFSET, RANK_AT, shared_place
from warploom.emulator.memory import allocated, fail, updated32, updated64
from warploom.emulator.pointers import first_lane, get8, get32, get64, put8, put16, put32, put64
from warploom.emulator.records import Fault
from warploom.emulator.sass.barrier_log import add_block, begin_copy, log_copy
from warploom.emulator.sass.transactions import count_bytes
from warploom.jit import callee

MOST_DIMENSIONS = 5
MAP_BYTES = 128
MAP_DTYPE = np.dtype(
    [
        ("mark", "u4"),
        ("dimensions", "u4"),
        ("address", "u8"),
        ("strides", "u8", (MOST_DIMENSIONS - 1,)),  # bytes between neighbours of all but the innermost dimension
        ("sizes", "u4", (MOST_DIMENSIONS,)),
        ("box", "u2", (MOST_DIMENSIONS,)),
        ("steps", "u2", (MOST_DIMENSIONS,)),
        ("element_bytes", "u4"),
        ("swizzle", "u4"),  # 16-byte pieces are exchanged within so many of them; 1: not at all
        ("fill", "u8"),  # what is outside, one element
        ("kind", "u4"),  # an `AtomicType`, of reductions; of halves the type of pairs
    ]
)
MARK = 0x5057414D  # of a map that was made here


class TensorCopy(IntEnum):
    """What is done to a tile."""

    LOAD = 0
    STORE = 1
    REDUCE = 2


LOAD, REDUCE = int(TensorCopy.LOAD), int(TensorCopy.REDUCE)
SHARED, GLOBAL, BOUNDS = int(Space.SHARED), int(Space.GLOBAL), int(Fault.BOUNDS)
TENSOR_MAP, ALIGNMENT = int(Fault.TENSOR_MAP), int(Fault.ALIGNMENT)


def _at(name: str) -> int:
    assert MAP_DTYPE.fields is not None
    return int(MAP_DTYPE.fields[name][1])


_DIMENSIONS, _ADDRESS, _STRIDES, _SIZES, _BOX = map(_at, ("dimensions", "address", "strides", "sizes", "box"))
_STEPS, _BYTES, _SWIZZLE, _FILL, _KIND = map(_at, ("steps", "element_bytes", "swizzle", "fill", "kind"))


@callee
def _halfword(place):
    return np.int64(get8(place)) | (np.int64(get8(place + 1)) << 8)


@callee
def _extent(described, dimension):
    """Elements of a tile along a dimension: steps leave some out, but not along rows."""
    box, step = _halfword(described + _BOX + 2 * dimension), _halfword(described + _STEPS + 2 * dimension)
    return box if dimension == 0 else (box + step - 1) // step


@callee
def _element(described, coordinates, number):
    """The offset of an element of the tile from the start of the tensor; -1 if it lies outside."""
    offset = np.int64(0)
    for dimension in range(np.int64(get32(described + _DIMENSIONS))):
        extent = _extent(described, dimension)
        step = np.int64(1) if dimension == 0 else _halfword(described + _STEPS + 2 * dimension)
        at = np.int64(np.int32(get32(coordinates + 128 * dimension))) + number % extent * step
        number //= extent
        if at < 0 or at >= np.int64(get32(described + _SIZES + 4 * dimension)):
            return np.int64(-1)
        if dimension == 0:
            offset += at * np.int64(get32(described + _BYTES))
        else:
            offset += at * np.int64(get64(described + _STRIDES + 8 * (dimension - 1)))
    return offset


@callee
def _exchanged(address, pieces):
    """An address in shared memory after the exchange of 16-byte pieces."""
    return address ^ (((address >> 7) & (pieces - 1)) << 4)


@callee
def _reduce(operation, kind, target, source, size):
    """Reduce an element with the one at the target; both are places of the host."""
    if size == 8:
        put64(target, updated64(operation, kind, get64(target), get64(source), np.uint64(0)))
    elif size == 4:
        put32(target, updated32(operation, kind, get32(target), get32(source), np.uint32(0), False))
    else:
        old, value = np.uint32(_halfword(target)), np.uint32(_halfword(source))
        put16(target, np.uint16(updated32(operation, kind, old, value, np.uint32(0), False) & np.uint32(0xFFFF)))


@callee
def _move(machine, instruction, described, coordinates, shared, inside, count):
    """Copy elements between the tensor and shared memory, whose start is a place of the host; `inside` is the tile's address."""
    size, pieces = np.int64(get32(described + _BYTES)), np.int64(get32(described + _SWIZZLE))
    start = np.int64(get64(described + _ADDRESS))
    for number in range(count):
        offset = _element(described, coordinates, number)
        near = shared + _exchanged(inside + number * size, pieces)
        far = machine.arena - machine.arena_start + start + offset
        if offset >= 0 and not allocated(machine, start + offset, start + offset + size - 1):
            return fail(machine, BOUNDS, 0, start + offset, GLOBAL)
        if instruction.operation == REDUCE:
            if offset >= 0:
                _reduce(np.int64(instruction.signed), np.int64(get32(described + _KIND)), far, near, size)
            continue
        for byte in range(size):
            if instruction.operation == LOAD:
                put8(near + byte, get8(far + byte) if offset >= 0 else get8(described + _FILL + byte))
            elif offset >= 0:
                put8(far + byte, get8(near + byte))
    return True


@callee
def _inside(described, coordinates, dimension):
    """Which of the elements of a tile along a dimension lie in the tensor: the first one's place, the step, how many."""
    at = np.int64(np.int32(get32(coordinates + 128 * dimension)))
    step = np.int64(1) if dimension == 0 else _halfword(described + _STEPS + 2 * dimension)
    size = np.int64(get32(described + _SIZES + 4 * dimension))
    skipped = max(np.int64(0), (-at + step - 1) // step)
    count = min(_extent(described, dimension), (size - at + step - 1) // step) - skipped
    return at + skipped * step, step, max(np.int64(0), count)


@callee
def _stride(described, dimension):
    return np.int64(get64(described + _STRIDES + 8 * (dimension - 1)))


@callee
def _log_tile(machine, cta, described, coordinates, barrier, size):
    """What of device memory a tile accesses: blocks of rows along the second dimension, one for each place along the others."""
    records = begin_copy(machine, cta, barrier, size)
    dimensions = np.int64(get32(described + _DIMENSIONS))
    bytes_each = np.int64(get32(described + _BYTES))
    first, _, width = _inside(described, coordinates, 0)
    start = np.int64(get64(described + _ADDRESS)) + first * bytes_each
    distance, rows, blocks = np.int64(0), np.int64(1), np.int64(1)
    if dimensions > 1:
        at, step, rows = _inside(described, coordinates, 1)
        start += at * _stride(described, 1)
        distance = step * _stride(described, 1)
    for dimension in range(2, dimensions):
        blocks *= _inside(described, coordinates, dimension)[2]
    if width * rows > 0:
        for block in range(blocks):
            offset, rest = np.int64(0), np.int64(block)
            for dimension in range(2, dimensions):
                at, step, count = _inside(described, coordinates, dimension)
                offset += (at + rest % count * step) * _stride(described, dimension)
                rest //= count
            records = add_block(machine, records, start + offset, width * bytes_each, distance, rows)
    log_copy(machine, records)


@callee
def copy_tile(machine, cta, instruction, rows, mask):
    """Copy a tile at once, for the warp. Rows: the tile's address in shared memory, the map's address, the barrier or -1,
    the first coordinate, a mask of the CTAs that get it or -1.
    """
    lane = first_lane(mask)
    at = rows + 4 * lane
    pointer = np.int64(get32(at + instruction.rows[1])) | (np.int64(get32(at + instruction.rows[1] + 128)) << 32)
    described = machine.arena - machine.arena_start + pointer
    if not allocated(machine, pointer, pointer + MAP_BYTES - 1) or get32(described) != np.uint32(MARK):
        return fail(machine, TENSOR_MAP, lane, pointer, GLOBAL)
    if np.int64(get32(described + _DIMENSIONS)) != instruction.matrices:
        return fail(machine, TENSOR_MAP, lane, pointer, GLOBAL)
    count = np.int64(1)
    for dimension in range(instruction.matrices):
        count *= _extent(described, dimension)
    size = count * np.int64(get32(described + _BYTES))
    inside = np.int64(get32(at + instruction.rows[0]))
    if inside & 15:
        return fail(machine, ALIGNMENT, lane, inside, SHARED)
    if machine.tracing:
        barrier = np.int64(get32(at + instruction.rows[2])) if instruction.rows[2] >= 0 else np.int64(-1)
        _log_tile(machine, cta, described, at + instruction.rows[3], barrier, size)
    ranks = np.int64(1)
    own = inside >> RANK_AT
    if instruction.rows[4] >= 0:
        ranks = np.int64(get32(at + instruction.rows[4])) >> 16
    for rank in range(16):
        if not (ranks >> rank) & 1:
            continue
        upper = (np.int64(rank) if instruction.rows[4] >= 0 else own) << RANK_AT
        address = upper | (inside & OFFSET)
        place = shared_place(machine, cta, address, size)
        if place == 0:
            return fail(machine, BOUNDS, lane, address, SHARED)
        shared = place - (inside & OFFSET)
        if not _move(machine, instruction, described, at + instruction.rows[3], shared, inside & OFFSET, count):
            return False
        if instruction.rows[2] >= 0:
            barrier = upper | (np.int64(get32(at + instruction.rows[2])) & OFFSET)
            if not count_bytes(machine, cta, lane, barrier, size):
                return False
    return True
