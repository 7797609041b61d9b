"""Tensor maps: what describes a tensor in device memory to the engine that copies tiles of it to and from shared memory.

They are read as hardware has them, for libraries write them without the driver's help. Of 128 bytes the first 64 count:

- 0 to 7 the address; 8 to 11 from the lowest bit: 1 whether columns (im2col) are meant, 3 a version, 3 dimensions less one, 4 the
  format of elements (`Format`), 2 the interleaved layout, 2 the swizzle, 1 NaNs outside, 1 rounding to TF32, 2 what L2 fetches;
- 12 to 27 four strides in units of 16 bytes, 28 to 31 four bits more of each; 32 to 51 five sizes less one;
- 52 to 55 five steps less one, 3 bits each, and in the last byte the extent of a box along rows less one; 56 to 59 the other
  four extents less one.

The layout is published in TensorRT-LLM and FlashInfer, and agrees with what the driver of an H200 made of 3,986 descriptions. A
tile has up to five dimensions, the innermost first. What lies outside of the tensor is read as zero or as a NaN, and not written.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from warploom.base.records import Lanes, int64
from warploom.compiler.code.table import Space
from warploom.emulator.clusters import OFFSET, RANK_AT, shared_place
from warploom.emulator.memory import allocated, fail, updated32, updated64
from warploom.emulator.pointers import first_lane, get8, get16, get32, get64, put8, put16, put32, put64
from warploom.emulator.records import AtomicType, EmulatedMachine, Fault, Kind, ResidentCta
from warploom.emulator.sass.barrier_log import add_block, begin_copy, log_copy
from warploom.emulator.sass.records import SassInstruction
from warploom.emulator.sass.tensor_map import ELEMENT_BYTES, Format
from warploom.emulator.sass.transactions import count_bytes
from warploom.emulator.watch.events import note_span
from warploom.jit import callee

MOST_BYTES = 1 << 40  # along one dimension
_READ_BYTES = 64  # of a map


class TensorCopy(IntEnum):
    """What is done to a tile."""

    LOAD = 0
    STORE = 1
    REDUCE = 2


STORED = int(Kind.STORE)
LOAD, REDUCE = int(TensorCopy.LOAD), int(TensorCopy.REDUCE)
SHARED, GLOBAL, BOUNDS = int(Space.SHARED), int(Space.GLOBAL), int(Fault.BOUNDS)
TENSOR_MAP, ALIGNMENT = int(Fault.TENSOR_MAP), int(Fault.ALIGNMENT)


_TYPES = (
    *(AtomicType.U32, AtomicType.U32, AtomicType.U32, AtomicType.S32, AtomicType.U64, AtomicType.S64),
    *(AtomicType.F16X2, AtomicType.F32, AtomicType.F32, AtomicType.F64, AtomicType.BF16X2),
)  # of reductions, by format; of halves the type of pairs
_KINDS = tuple(int(each) for each in _TYPES)
_SIZES = tuple(int(each) for each in ELEMENT_BYTES)
_LAST_FORMAT, _FLUSHED = int(Format.BF16), int(Format.F32_FLUSHED)
_HEAD, _STRIDES, _MORE, _EXTENTS, _STEPS, _BOX = 8, 12, 28, 32, 52, 55
_REFUSED = np.uint32(1 | 3 << 11 | 1 << 16)  # columns, interleaved layouts, rounding


@callee
def _bits(described: int, first: int, count: int) -> int:
    """Of the word that says most."""
    return (int64(get32(described + _HEAD)) >> first) & ((1 << count) - 1)


@callee
def _dimensions(described: int) -> int:
    return _bits(described, 4, 3) + 1


@callee
def _format(described: int) -> int:
    return _bits(described, 7, 4)


@callee
def _pieces(described: int) -> int:
    """Within how many pieces of 16 bytes they are exchanged; 1: not at all."""
    return 1 << _bits(described, 13, 2)


@callee
def _size(described: int, dimension: int) -> int:
    return int64(get32(described + _EXTENTS + 4 * dimension)) + 1


@callee
def _box(described: int, dimension: int) -> int:
    return int64(get8(described + _BOX + dimension)) + 1


@callee
def _step(described: int, dimension: int) -> int:
    """Steps count along all dimensions but rows."""
    return 1 if dimension == 0 else ((int64(get32(described + _STEPS)) >> 3 * dimension) & 7) + 1


@callee
def _stride(described: int, dimension: int) -> int:
    """Bytes between neighbours along a dimension; along rows that is the size of an element."""
    if dimension == 0:
        return _SIZES[_format(described)]
    low = int64(get32(described + _STRIDES + 4 * (dimension - 1)))
    return (low | ((int64(get32(described + _MORE)) >> 4 * (dimension - 1)) & 15) << 32) << 4


@callee
def _outside(described: int, size: int, byte: int) -> np.uint8:
    """A byte of what is read outside of the tensor."""
    if _bits(described, 15, 1) == 0:
        return np.uint8(0)
    return np.uint8(0x7F) if byte == size - 1 else np.uint8(0xFF)


@callee
def _extent(described: int, dimension: int) -> int:
    """Elements of a tile along a dimension."""
    step = _step(described, dimension)
    return (_box(described, dimension) + step - 1) // step


@callee
def _row(described: int, coordinates: int, number: int) -> int:
    """The offset of a row of the tile from the start of the tensor, as if it began with it; -1 if it lies outside."""
    offset = 0
    for dimension in range(1, _dimensions(described)):
        extent = _extent(described, dimension)
        at = int64(np.int32(get32(coordinates + 128 * dimension))) + number % extent * _step(described, dimension)
        number //= extent
        if at < 0 or at >= _size(described, dimension):
            return -1
        offset += at * _stride(described, dimension)
    return offset


@callee
def _exchanged(address: int, pieces: int) -> int:
    """An address in shared memory after the exchange of 16-byte pieces."""
    return address ^ (((address >> 7) & (pieces - 1)) << 4)


@callee
def _reduce(operation: int, kind: int, target: int, source: int, size: int) -> None:
    """Reduce an element with the one at the target; both are places of the host."""
    if size == 8:
        put64(target, updated64(operation, kind, get64(target), get64(source), np.uint64(0)))
    elif size == 4:
        put32(target, updated32(operation, kind, get32(target), get32(source), np.uint32(0), False))
    else:
        old, value = np.uint32(get16(target)), np.uint32(get16(source))
        put16(target, np.uint16(updated32(operation, kind, old, value, np.uint32(0), False) & np.uint32(0xFFFF)))


@callee
def _move(
    machine: EmulatedMachine, instruction: SassInstruction, described: int, coordinates: int, shared: int, inside: int, rows: int
) -> bool:
    """Copy rows between the tensor and shared memory, whose start is a place of the host; `inside` is the tile's address."""
    kind = _format(described)
    size, pieces, width, length = _SIZES[kind], _pieces(described), _extent(described, 0), _size(described, 0)
    start, first = int64(get64(described)), int64(np.int32(get32(coordinates)))
    for row in range(rows):
        offset = _row(described, coordinates, row)
        for place in range(width):
            at = start + offset + (first + place) * size
            exists = offset >= 0 and first + place >= 0 and first + place < length
            near = shared + _exchanged(inside + (row * width + place) * size, pieces)
            far = machine.arena - machine.arena_start + at
            if exists and not allocated(machine, at, size):
                return fail(machine, BOUNDS, 0, at, GLOBAL)
            if instruction.operation == REDUCE:
                if exists:
                    _reduce(int64(instruction.signed), _KINDS[kind], far, near, size)
                continue
            for byte in range(size):
                if instruction.operation == LOAD:
                    put8(near + byte, get8(far + byte) if exists else _outside(described, size, byte))
                elif exists:
                    put8(far + byte, get8(near + byte))
    return True


@callee
def _inside(described: int, coordinates: int, dimension: int) -> tuple[int, int, int]:
    """Which of the elements of a tile along a dimension lie in the tensor: the first one's place, the step, how many."""
    at = int64(np.int32(get32(coordinates + 128 * dimension)))
    step, size = _step(described, dimension), _size(described, dimension)
    skipped = max(0, (-at + step - 1) // step)
    count = min(_extent(described, dimension), (size - at + step - 1) // step) - skipped
    return at + skipped * step, step, max(0, count)


@callee
def _log_tile(machine: EmulatedMachine, cta: ResidentCta, described: int, coordinates: int, barrier: int, size: int) -> None:
    """What of device memory a tile accesses: blocks of rows along the second dimension, one for each place along the others."""
    records = begin_copy(machine, cta, barrier, size)
    dimensions, bytes_each = _dimensions(described), _stride(described, 0)
    first, _, width = _inside(described, coordinates, 0)
    start = int64(get64(described)) + first * bytes_each
    distance, rows, blocks = 0, 1, 1
    if dimensions > 1:
        at, step, rows = _inside(described, coordinates, 1)
        start += at * _stride(described, 1)
        distance = step * _stride(described, 1)
    for dimension in range(2, dimensions):
        blocks *= _inside(described, coordinates, dimension)[2]
    if width * rows > 0:
        for block in range(blocks):
            offset, rest = 0, int64(block)
            for dimension in range(2, dimensions):
                at, step, count = _inside(described, coordinates, dimension)
                offset += (at + rest % count * step) * _stride(described, dimension)
                rest //= count
            records = add_block(machine, records, start + offset, width * bytes_each, distance, rows)
    log_copy(machine, records)


@callee
def _can_be_copied(described: int) -> bool:
    """Whether a map describes what is done here, and no more than there can be: kernels and programs write maps of their own."""
    kind = _format(described)
    if get32(described + _HEAD) & _REFUSED or kind > _LAST_FORMAT or kind == _FLUSHED or get64(described) > np.uint64(MOST_BYTES):
        return False
    for dimension in range(_dimensions(described)):
        stride = _stride(described, dimension)
        if stride > 0 and _size(described, dimension) > MOST_BYTES // stride:
            return False
    return True


@callee
def copy_tile(machine: EmulatedMachine, cta: ResidentCta, instruction: SassInstruction, rows: int, mask: Lanes) -> bool:
    """Copy a tile at once, for the warp. Rows: the tile's address in shared memory, the map's address, the barrier or -1,
    the first coordinate, a mask of the CTAs that get it or -1.
    """
    lane = first_lane(mask)
    at = rows + 4 * lane
    pointer = int64(get32(at + instruction.rows[1])) | (int64(get32(at + instruction.rows[1] + 128)) << 32)
    described = machine.arena - machine.arena_start + pointer
    if not allocated(machine, pointer, _READ_BYTES) or _dimensions(described) != instruction.matrices:
        return fail(machine, TENSOR_MAP, lane, pointer, GLOBAL)
    if not _can_be_copied(described):
        return fail(machine, TENSOR_MAP, lane, pointer, GLOBAL)
    count = 1
    for dimension in range(1, instruction.matrices):
        count *= _extent(described, dimension)
    size = count * _extent(described, 0) * _stride(described, 0)
    inside = int64(get32(at + instruction.rows[0]))
    if inside & 15:
        return fail(machine, ALIGNMENT, lane, inside, SHARED)
    if machine.tracing:
        barrier = int64(get32(at + instruction.rows[2])) if instruction.rows[2] >= 0 else -1
        _log_tile(machine, cta, described, at + instruction.rows[3], barrier, size)
    ranks = 1
    own = inside >> RANK_AT
    if instruction.rows[4] >= 0:
        ranks = int64(get32(at + instruction.rows[4])) >> 16
    for rank in range(16):
        if not (ranks >> rank) & 1:
            continue
        upper = (int64(rank) if instruction.rows[4] >= 0 else own) << RANK_AT
        address = upper | (inside & OFFSET)
        place = shared_place(machine, cta, address, size)
        if place == 0:
            return fail(machine, BOUNDS, lane, address, SHARED)
        if instruction.operation == LOAD:
            note_span(machine, cta, instruction.pc, STORED, SHARED, place, address, size)
        shared = place - (inside & OFFSET)
        if not _move(machine, instruction, described, at + instruction.rows[3], shared, inside & OFFSET, count):
            return False
        if instruction.rows[2] >= 0:
            barrier = upper | (int64(get32(at + instruction.rows[2])) & OFFSET)
            if not count_bytes(machine, cta, lane, barrier, size):
                return False
    return True
