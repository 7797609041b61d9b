"""What the trace says of barriers in shared memory (mbarrier) and of copies of many bytes: see `warploom.emulator.trace.format`.

Barriers get numbers in the order in which a CTA begins them. Phases are counted from there, so that the trace can say which
phase a wait has seen the end of. In clusters barriers of other CTAs are reached, and none is followed.
"""

from __future__ import annotations

import numpy as np

from warploom.base.records import int64
from warploom.compiler.code.table import Space
from warploom.emulator.clusters import OFFSET
from warploom.emulator.memory import FAULT_UNRECORDED, fail, log_access
from warploom.emulator.pointers import get32, put32
from warploom.emulator.records import EmulatedMachine, ResidentCta
from warploom.emulator.trace.format import (
    ARRIVALS_SHIFT,
    COUNTED,
    MOST_ARRIVALS,
    MOST_BLOCKS,
    MOST_COUNTED,
    NUMBER_SHIFT,
    UNIT_BYTES,
    BarrierDeed,
)
from warploom.jit import callee

BEGIN, WAIT = int(BarrierDeed.BEGIN), int(BarrierDeed.WAIT)
GLOBAL = int(Space.GLOBAL)
_SAME = np.uint32((1 << ARRIVALS_SHIFT) - 1)


@callee
def number_of(machine: EmulatedMachine, cta: ResidentCta, address: int) -> int:
    """The number of the barrier at an address; -1 if it is not followed."""
    if machine.cluster_size == 1:
        for number in range(cta.counted):
            if cta.counted_at[number] == address & OFFSET:
                return int64(number)
    return -1


@callee
def begin_barrier(machine: EmulatedMachine, cta: ResidentCta, address: int) -> bool:
    """Give the barrier at an address a number if it has none; whether it is new."""
    if machine.cluster_size > 1 or cta.counted == MOST_COUNTED or number_of(machine, cta, address) >= 0:
        return False
    cta.counted_at[cta.counted] = address & OFFSET
    cta.counted_phases[cta.counted] = 0
    cta.counted += 1
    return True


@callee
def end_phase(machine: EmulatedMachine, cta: ResidentCta, address: int) -> None:
    """A phase of a barrier has ended."""
    number = number_of(machine, cta, address)
    if number >= 0:
        cta.counted_phases[number] += 1


@callee
def _check_arrivals(machine: EmulatedMachine, arrivals: int) -> None:
    """A record has room for so many arrivals and no more."""
    if arrivals < 0 or arrivals > MOST_ARRIVALS:
        fail(machine, FAULT_UNRECORDED, 0, arrivals, COUNTED)


@callee
def note_deed(machine: EmulatedMachine, cta: ResidentCta, address: int, noted: int, deed: int, arrivals: int, amount: int) -> int:
    """Add what a lane does to a barrier to the records of its instruction, `noted` so far; how many there are then."""
    number = number_of(machine, cta, address)
    if number < 0 or not machine.tracing:
        return noted
    what = np.uint32(deed | (number << NUMBER_SHIFT))
    for record in range(machine.n_sector, machine.n_sector + noted):
        before = get32(machine.log_sector + 4 * record)
        if before & _SAME == what:
            if deed not in (BEGIN, WAIT):
                _check_arrivals(machine, int64(before >> np.uint32(ARRIVALS_SHIFT)) + arrivals)
                put32(machine.log_sector + 4 * record, before + np.uint32(arrivals << ARRIVALS_SHIFT))
                put32(machine.log_lanes + 4 * record, get32(machine.log_lanes + 4 * record) + np.uint32(amount & 0xFFFFFFFF))
            return noted
    _check_arrivals(machine, arrivals)
    put32(machine.log_sector + 4 * (machine.n_sector + noted), what | np.uint32(arrivals << ARRIVALS_SHIFT))
    put32(machine.log_lanes + 4 * (machine.n_sector + noted), np.uint32(amount & 0xFFFFFFFF))
    return noted + 1


@callee
def note_wait(machine: EmulatedMachine, cta: ResidentCta, address: int, noted: int) -> int:
    """A lane has found that a phase is over: as many have ended as have by now."""
    number = number_of(machine, cta, address)
    return note_deed(machine, cta, address, noted, WAIT, 0, cta.counted_phases[number]) if number >= 0 else noted


@callee
def log_deeds(machine: EmulatedMachine, noted: int, lanes: int) -> None:
    """The entry of an instruction whose records have been noted."""
    if machine.tracing:
        log_access(machine, COUNTED, noted, max(lanes, 1) - 1)


@callee
def _put(machine: EmulatedMachine, record: int, first: int, second: int) -> None:
    put32(machine.log_sector + 4 * (machine.n_sector + record), np.uint32(first & 0xFFFFFFFF))
    put32(machine.log_lanes + 4 * (machine.n_sector + record), np.uint32(second & 0xFFFFFFFF))


@callee
def begin_copy(machine: EmulatedMachine, cta: ResidentCta, barrier: int, size: int) -> int:
    """The first record of a copy: bytes that a barrier counts, unless its address is negative; how many records there are."""
    number = number_of(machine, cta, barrier) if barrier >= 0 else -1
    _put(machine, 0, number + 1, size)
    return 1


@callee
def add_block(machine: EmulatedMachine, records: int, start: int, size: int, distance: int, rows: int) -> int:
    """Add rows of `size` bytes, `distance` bytes apart, to the records of a copy; how many there are then."""
    if rows > 1 and distance == size:
        size, rows = size * rows, 1
    if records == 1 + 2 * MOST_BLOCKS:
        at = machine.log_lanes + 4 * (machine.n_sector + records - 1)
        put32(at, get32(at) + np.uint32(rows))
        return records
    first = start // UNIT_BYTES
    _put(machine, records, first, (start + size - 1) // UNIT_BYTES + 1 - first)
    _put(machine, records + 1, distance // UNIT_BYTES, rows)
    return records + 2


@callee
def log_copy(machine: EmulatedMachine, records: int) -> None:
    """The entry of a copy of many bytes, whose records have been put into place."""
    log_access(machine, GLOBAL, records, 0)


@callee
def log_nothing(machine: EmulatedMachine) -> bool:
    """The entry of a copy that no lane executes."""
    if machine.tracing:
        log_copy(machine, 0)
    return True
