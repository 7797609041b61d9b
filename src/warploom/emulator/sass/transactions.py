"""Barriers in shared memory that count arrivals and bytes that are on their way (mbarrier), and copies of many bytes at once.

A barrier is 64 bits. Before Hopper the upper word counts up to 2**31 with what is still to come below it, the bit above is the
phase; the lower word holds what it begins with, from 2**30. Hopper has, from the lowest bit: a free bit, 20 bits of what a phase
begins with, 21 bits of bytes on their way, negative, another free bit, 20 bits of arrivals still to come, the phase; counts run
up to 2**20. When nothing is to come any more the phase changes and the count begins again. Where all have arrived while bytes are
on their way, the second free bit is set: how hardware notes that is not known. To those who arrive an H200 tells the same states.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from warploom.base.records import Lanes, int64
from warploom.compiler.code.table import Space
from warploom.emulator.clusters import OFFSET, RANK_AT, shared_place
from warploom.emulator.memory import allocated, fail, log_access, updated32, updated64
from warploom.emulator.pointers import count_ones, first_lane, get8, get32, get64, put8, put32, put64, put_predicate
from warploom.emulator.records import EmulatedMachine, Fault, Kind, ResidentCta
from warploom.emulator.sass.barrier_log import (
    add_block,
    begin_barrier,
    begin_copy,
    end_phase,
    log_copy,
    log_deeds,
    note_deed,
    note_wait,
)
from warploom.emulator.sass.records import SassInstruction
from warploom.emulator.trace.format import MOST_EMPTY, BarrierDeed
from warploom.emulator.watch.events import note_span
from warploom.jit import callee


class Transaction(IntEnum):
    """What is done to a barrier."""

    ARRIVE = 0  # and tell the state before
    CHECK = 1  # whether a phase is over
    STORE = 2  # words into shared memory of the cluster, and count them at a barrier there
    REDUCE = 3  # likewise, one word that is added or the like
    COPY_TO_SHARED = 4
    COPY_FROM_SHARED = 5
    COPY_WITHIN_SHARED = 6
    COPY_TO_MANY = 7  # the same place in the shared memory of several CTAs of the cluster
    REDUCE_FROM_SHARED = 8  # words of shared memory with those of device memory
    BEGIN = 9  # a barrier is given its first state


class Amount(IntEnum):
    """How many arrive, or how many bytes are expected: it is written in the opcode, or it is in a register."""

    NONE = 0
    ONE = 1
    REGISTER = 2
    DONE = 3  # bytes in a register are no longer expected


CHECK, STORE, REDUCE, BEGIN = (int(Transaction[n]) for n in ("CHECK", "STORE", "REDUCE", "BEGIN"))
FROM_SHARED, WITHIN_SHARED = int(Transaction.COPY_FROM_SHARED), int(Transaction.COPY_WITHIN_SHARED)
TO_MANY, REDUCE_BULK = int(Transaction.COPY_TO_MANY), int(Transaction.REDUCE_FROM_SHARED)
ONE, REGISTER, DONE = int(Amount.ONE), int(Amount.REGISTER), int(Amount.DONE)
BEGUN, ARRIVED, LEFT = int(BarrierDeed.BEGIN), int(BarrierDeed.ARRIVE), int(BarrierDeed.LEAVE)
SHARED, GLOBAL, BOUNDS, ALIGNMENT = int(Space.SHARED), int(Space.GLOBAL), int(Fault.BOUNDS), int(Fault.ALIGNMENT)
STORED, ATOMIC = int(Kind.STORE), int(Kind.ATOMIC)
SUSPENDS = 2  # the value of `polling` of a question that waits for a while before it says no (TRYWAIT)
_BYTES = 8
_COPY_UNIT = 16
_COUNT = np.uint64((1 << 20) - 1)
_PENDING_AT, _EXPECTED_AT, _ALL_HERE, _PHASE_AT = np.uint64(43), np.uint64(21), np.uint64(1 << 42), np.uint64(63)
_EXPECTED = np.uint64((1 << 21) - 1)


@callee
def _amount(kind: int, rows: int, row: int, lane: int) -> int:
    if kind >= REGISTER:
        return int64(np.int32(get32(rows + row + 4 * lane)))
    return int64(kind == ONE)


@callee
def _arrived_before_hopper(place: int) -> None:
    """One more arrival."""
    first, count = get32(place), get32(place + 4)
    come = np.uint32(count + np.uint32(1))
    if come & np.uint32(0x7FFFFFFF) == 0:  # the carry has changed the phase
        come |= (first + np.uint32(0x40000000)) & np.uint32(0x7FFFFFFF)
    put32(place + 4, come)


@callee
def _settle(place: int, state: np.uint64, pending: int, expected: int) -> None:
    """Note what is still to come; if that is nothing, the next phase begins."""
    kept = state & ((np.uint64(1) << _EXPECTED_AT) - np.uint64(1))
    phase = state >> _PHASE_AT
    first = (kept >> np.uint64(1)) & _COUNT
    if pending == 0 and expected == 0:
        phase, count, here = phase ^ np.uint64(1), first, np.uint64(0)
    else:
        count = np.uint64((1 << 20) - pending) & _COUNT
        here = _ALL_HERE if pending == 0 else np.uint64(0)
    bytes_left = (np.uint64(-expected) & _EXPECTED) << _EXPECTED_AT
    put64(place, kept | bytes_left | here | (count << _PENDING_AT) | (phase << _PHASE_AT))


@callee
def _arrive(
    machine: EmulatedMachine, cta: ResidentCta, address: int, place: int, arrivals: int, expected: int, leaves: bool
) -> None:
    """Count `arrivals`, and expect `expected` more bytes; who leaves will not come in later phases either."""
    state = get64(place)
    phase = state >> _PHASE_AT
    if leaves:
        first = ((state >> np.uint64(1)) + np.uint64(arrivals)) & _COUNT
        state = (state & ~(_COUNT << np.uint64(1))) | (first << np.uint64(1))
    count = int64((state >> _PENDING_AT) & _COUNT)
    pending = 0 if state & _ALL_HERE else (1 << 20) - count
    left = int64((state >> _EXPECTED_AT) & _EXPECTED)
    left = left - (1 << 21) if left >> 20 else left
    _settle(place, state, pending - arrivals, expected - left)
    if get64(place) >> _PHASE_AT != phase:
        end_phase(machine, cta, address)


@callee
def _begin(machine: EmulatedMachine, cta: ResidentCta, address: int, place: int, state: np.uint64, noted: int) -> int:
    """Give a barrier its first state; how many records the instruction has then."""
    put64(place, state)
    new = begin_barrier(machine, cta, address)
    count = (1 << 20) - int64((state >> np.uint64(1)) & _COUNT)
    return note_deed(machine, cta, address, noted, BEGUN, count, int64(new))


@callee
def synchronise(
    machine: EmulatedMachine, cta: ResidentCta, instruction: SassInstruction, rows: int, predicates: int, mask: Lanes
) -> bool:
    """Arrive at barriers, or ask whether a phase is over, lane after lane. Rows: the state before (or -1), the operand.

    `type` tells how many arrive, `elements` how many bytes are expected, `signed` whether they leave, `size` whose barriers
    they are: 4 before Hopper.
    """
    over = np.uint32(0)
    noted = 0  # records of the trace
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        address = int64(get32(rows + instruction.address + 4 * lane)) + instruction.offset
        place = shared_place(machine, cta, address, _BYTES)
        if place == 0:
            return fail(machine, BOUNDS, lane, address, SHARED)
        if address & (_BYTES - 1):
            return fail(machine, ALIGNMENT, lane, address, SHARED)
        if instruction.operation == CHECK:
            if (get32(place + 4) ^ get32(rows + instruction.rows[1] + 4 * lane)) >> np.uint32(31):
                over |= np.uint32(1) << np.uint32(lane)
                if instruction.predicate_out >= 0:
                    noted = note_wait(machine, cta, address, noted)
            continue
        if instruction.operation == BEGIN:
            words = rows + instruction.rows[1] + 4 * lane
            state = np.uint64(get32(words)) | np.uint64(get32(words + 128)) << np.uint64(32)
            noted = _begin(machine, cta, address, place, state, noted)
            continue
        arrivals = _amount(instruction.type, rows, instruction.rows[1], lane)  # before the result, which may be the same register
        expected = _amount(instruction.elements, rows, instruction.rows[1], lane)
        if instruction.rows[0] >= 0:
            put32(rows + instruction.rows[0] + 4 * lane, get32(place))
            put32(rows + instruction.rows[0] + 128 + 4 * lane, get32(place + 4))
        if instruction.size == 4:
            _arrived_before_hopper(place)
            note_span(machine, cta, instruction.pc, ATOMIC, SHARED, place, address, _BYTES)
            continue
        expected = -expected if instruction.elements == DONE else expected
        leaves = instruction.signed != 0
        noted = note_deed(machine, cta, address, noted, LEFT if leaves else ARRIVED, arrivals, expected)
        _arrive(machine, cta, address, place, arrivals, expected, leaves)
    if instruction.predicate_out >= 0:
        put_predicate(predicates + 4 * instruction.predicate_out, mask, over)
    if instruction.size != 4:
        log_deeds(machine, noted, int64(count_ones(mask)))
    elif machine.tracing:
        log_access(machine, SHARED, int64(count_ones(mask)), MOST_EMPTY)
    return True


@callee
def phase_is_over(machine: EmulatedMachine, cta: ResidentCta, instruction: SassInstruction, rows: int, mask: Lanes) -> bool:
    """Whether all lanes that ask find that a phase is over; also if one asks where no barrier is, which is found out later."""
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        address = int64(get32(rows + instruction.address + 4 * lane)) + instruction.offset
        place = shared_place(machine, cta, address, _BYTES)
        if place != 0 and not (get32(place + 4) ^ get32(rows + instruction.rows[1] + 4 * lane)) >> np.uint32(31):
            return False
    return True


@callee
def store_and_count(machine: EmulatedMachine, cta: ResidentCta, instruction: SassInstruction, rows: int, mask: Lanes) -> bool:
    """Store words of lanes in the shared memory of the cluster, or reduce one with what is there; count the bytes at a barrier.

    Rows: the address, with that of the barrier behind it; the words.
    """
    size = 4 * instruction.elements
    noted = 0
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        at = rows + instruction.address + 4 * lane
        address, barrier = int64(get32(at)) + instruction.offset, int64(get32(at + 128))
        place, count = shared_place(machine, cta, address, size), shared_place(machine, cta, barrier, _BYTES)
        if place == 0 or count == 0:
            return fail(machine, BOUNDS, lane, address if place == 0 else barrier, SHARED)
        if address & (size - 1) or barrier & (_BYTES - 1):
            return fail(machine, ALIGNMENT, lane, address if address & (size - 1) else barrier, SHARED)
        if instruction.operation == REDUCE:
            value = get32(rows + instruction.rows[0] + 4 * lane)
            put32(place, updated32(instruction.type, int64(instruction.signed), get32(place), value, np.uint32(0), False))
        else:
            for element in range(instruction.elements):
                put32(place + 4 * element, get32(rows + instruction.rows[element] + 4 * lane))
        note_span(machine, cta, instruction.pc, STORED, SHARED, place, address, size)
        noted = note_deed(machine, cta, barrier, noted, ARRIVED, 0, -size)
        _arrive(machine, cta, barrier, count, 0, -size, False)
    log_deeds(machine, noted, int64(count_ones(mask)))
    return True


@callee
def count_bytes(machine: EmulatedMachine, cta: ResidentCta, lane: int, barrier: int, size: int) -> bool:
    """Bytes that a barrier expected have come."""
    count = shared_place(machine, cta, barrier, _BYTES)
    if count == 0:
        return fail(machine, BOUNDS, lane, barrier, SHARED)
    _arrive(machine, cta, barrier, count, 0, -size, False)
    return True


@callee
def _copy(machine: EmulatedMachine, cta: ResidentCta, lane: int, target: int, source: int, size: int, barrier: int) -> bool:
    """Copy bytes between places of the host, and count them at a barrier, unless its address is negative."""
    for byte in range(size):
        put8(target + byte, get8(source + byte))
    inside = machine.shared <= target < machine.shared + machine.slots * machine.shared_stride
    address = target - machine.arena + machine.arena_start
    note_span(machine, cta, 0, STORED, SHARED if inside else GLOBAL, target, address, size)
    return barrier < 0 or count_bytes(machine, cta, lane, barrier, size)


@callee
def reduce_words(instruction: SassInstruction, target: int, source: int, size: int) -> None:
    """Reduce words of 32 or 64 bits (`elements` bytes) with those at the target; both are places of the host."""
    each = int64(instruction.elements)
    kind = int64(instruction.type)
    for at in range(0, size, each):
        if each == 8:
            put64(target + at, updated64(instruction.signed, kind, get64(target + at), get64(source + at), np.uint64(0)))
        else:
            word = updated32(instruction.signed, kind, get32(target + at), get32(source + at), np.uint32(0), False)
            put32(target + at, word)


@callee
def copy_bytes(machine: EmulatedMachine, cta: ResidentCta, instruction: SassInstruction, rows: int, mask: Lanes) -> bool:
    """Copy between device memory and shared memory, at once, for the warp. Rows: target, source, units of 16 bytes, barrier.

    Above the units, the size has a mask of the CTAs that get a copy, where several do.
    """
    lane = first_lane(mask)
    at = 4 * lane
    operation = instruction.operation
    amount = int64(get32(rows + instruction.rows[2] + at))
    size = (amount & 0xFFFF) * _COPY_UNIT
    outwards = operation in (FROM_SHARED, REDUCE_BULK)
    near = instruction.rows[1] if outwards else instruction.rows[0]
    far = instruction.rows[0] if outwards else instruction.rows[1]
    inside, outside = int64(get32(rows + near + at)), int64(get32(rows + far + at))
    barrier = -1 if outwards else int64(get32(rows + instruction.rows[3] + at))
    here = shared_place(machine, cta, inside, size)
    if here == 0:
        return fail(machine, BOUNDS, lane, inside, SHARED)
    if operation == WITHIN_SHARED:
        there = shared_place(machine, cta, outside, size)
        if there == 0:
            return fail(machine, BOUNDS, lane, outside, SHARED)
    else:
        outside |= int64(get32(rows + far + 128 + at)) << 32
        if not allocated(machine, outside, size):
            return fail(machine, BOUNDS, lane, outside, GLOBAL)
        there = machine.arena - machine.arena_start + outside
    if (inside | outside) & (_COPY_UNIT - 1):
        return fail(machine, ALIGNMENT, lane, inside if inside & (_COPY_UNIT - 1) else outside, GLOBAL)
    if machine.tracing:
        records = begin_copy(machine, cta, barrier, size)
        if operation != WITHIN_SHARED and size > 0:
            records = add_block(machine, records, outside, size, 0, 1)
        log_copy(machine, records)
    if operation == FROM_SHARED:
        return _copy(machine, cta, lane, there, here, size, barrier)
    if operation == REDUCE_BULK:
        reduce_words(instruction, there, here, size)
        return True
    if operation != TO_MANY:
        return _copy(machine, cta, lane, here, there, size, barrier)
    for rank in range(machine.cluster_size):
        if (amount >> (16 + rank)) & 1:
            upper = int64(rank) << RANK_AT
            target = shared_place(machine, cta, upper | (inside & OFFSET), size)
            if not _copy(machine, cta, lane, target, there, size, upper | (barrier & OFFSET)):
                return False
    return True
