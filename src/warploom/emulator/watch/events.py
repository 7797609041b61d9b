"""The events that a watched launch notes, in the order of execution: accesses to memory, and what orders them.

The emulator only appends (`note_access`, `note_step` and the like) and, where nobody watches, asks one question for each. When
the list is full it returns to Python, which has the events judged (`warploom.emulator.watch.order`) and begins the list anew.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated

import numpy as np

from warploom.base.records import Array, Lanes, Record, dtype_of, i4, i8, int64, u8
from warploom.compiler.code.table import Space
from warploom.emulator.pointers import copy_row, first_lane, get8, get64, put32, put64
from warploom.emulator.records import BARRIERS, EmulatedMachine, EncodedInstruction, ResidentCta, ResidentWarp
from warploom.jit import callee


class EventKind(IntEnum):
    """What happened."""

    ACCESS = 0  # lanes of a warp read or write memory
    STEP = 1  # a warp executed an instruction that may order its accesses: a fence, a meeting of lanes
    BEGIN = 2  # a CTA became resident
    ARRIVE = 3  # a warp came to a barrier of its CTA; `detail`: which, `size`: whether it waits
    OPEN = 4  # the barrier let go all who waited
    SPAN = 5  # bytes were written by what is no thread; `detail`: where, `kind`: ATOMIC for a barrier that was arrived at
    COUNT = 6  # a warp arrived at a barrier that counts (`detail`: which sort), or, with `size`, found it open


class Event(Record):
    """One of them. A field that means nothing for a kind is left as it was."""

    what: i4
    pc: i4
    kind: i4  # of an access: load, store or atomic
    space: i4
    size: i4  # bytes that each lane accesses
    place: i4  # the warp, counted through all slots
    mask: Lanes
    unchanged: Lanes  # lanes whose store finds its value there already
    lost: Lanes  # lanes whose value another lane of the same store has overwritten
    slot: i4  # of the CTA whose shared memory is accessed; else of the warp's own CTA
    cta: i8  # in the grid
    detail: i8
    addresses: Annotated[Array[u8], 32]


SHARED = int(Space.SHARED)
EVENT_DTYPE = dtype_of(Event)
EVENT_BYTES = EVENT_DTYPE.itemsize
MOST_EVENTS = 40  # of one instruction: each lane may arrive at a barrier in shared memory
ACCESS, STEP, BEGIN, ARRIVE = (int(EventKind[n]) for n in ("ACCESS", "STEP", "BEGIN", "ARRIVE"))
OPEN, SPAN, COUNT = (int(EventKind[n]) for n in ("OPEN", "SPAN", "COUNT"))
IN_SHARED, OF_CLUSTER = BARRIERS, BARRIERS + 1
"""Barriers that count, numbered behind those of a CTA: all in its shared memory as one, and that of its cluster."""
ALL_BARRIERS = BARRIERS + 2
_PLACES = {name: int(field[1]) for name, field in (EVENT_DTYPE.fields or {}).items()}
_WHAT, _PC, _KIND, _SPACE, _SIZE = (_PLACES[name] for name in ("what", "pc", "kind", "space", "size"))
_PLACE, _MASK, _UNCHANGED, _LOST = (_PLACES[name] for name in ("place", "mask", "unchanged", "lost"))
_SLOT, _CTA, _DETAIL, _ADDRESSES = (_PLACES[name] for name in ("slot", "cta", "detail", "addresses"))


@callee
def _append(machine: EmulatedMachine, what: int, slot: int, place: int, cta: int, pc: int, mask: Lanes) -> int:
    """Begin an event; returns where it lies."""
    at = machine.events
    put32(at + _WHAT, np.uint32(what))
    put32(at + _PC, np.uint32(pc))
    put32(at + _SLOT, np.uint32(slot))
    put32(at + _PLACE, np.uint32(place))
    put32(at + _MASK, np.uint32(mask))
    put64(at + _CTA, np.uint64(cta))
    machine.events += EVENT_BYTES
    return at


@callee
def place_of(machine: EmulatedMachine, cta: ResidentCta, warp: ResidentWarp) -> int:
    """The number of a warp through all slots."""
    return cta.slot * machine.warps_per_cta + warp.number


@callee
def note_access(
    machine: EmulatedMachine,
    cta: ResidentCta,
    warp: ResidentWarp,
    instruction: EncodedInstruction,
    kind: int,
    mask: Lanes,
    space: int,
    slot: int,
    unchanged: Lanes,
    lost: Lanes,
) -> None:
    """Lanes have accessed memory at the addresses that the machine has of them."""
    at = _append(machine, ACCESS, slot, place_of(machine, cta, warp), cta.index, instruction.pc, mask)
    put32(at + _KIND, np.uint32(kind))
    put32(at + _SPACE, np.uint32(space))
    put32(at + _SIZE, np.uint32(instruction.size * instruction.elements))
    put32(at + _UNCHANGED, unchanged)
    put32(at + _LOST, lost)
    copy_row(at + _ADDRESSES, machine.addresses)
    copy_row(at + _ADDRESSES + 128, machine.addresses + 128)


@callee
def note_step(machine: EmulatedMachine, cta: ResidentCta, warp: ResidentWarp, pc: int, mask: Lanes, members: Lanes) -> None:
    """Lanes have executed an instruction that may order memory; `members` are those that they name."""
    if machine.events != 0 and mask != 0:
        at = _append(machine, STEP, cta.slot, place_of(machine, cta, warp), cta.index, pc, mask)
        put64(at + _DETAIL, np.uint64(members))


@callee
def note_begin(machine: EmulatedMachine, slot: int, index: int) -> None:
    """A CTA has become resident."""
    if machine.events != 0:
        _append(machine, BEGIN, slot, slot * machine.warps_per_cta, index, 0, np.uint32(0))


@callee
def note_arrival(machine: EmulatedMachine, cta: ResidentCta, warp: ResidentWarp, pc: int, barrier: int, waits: bool) -> None:
    """A warp has come to a barrier of its CTA."""
    if machine.events != 0:
        at = _append(machine, ARRIVE, cta.slot, place_of(machine, cta, warp), cta.index, pc, np.uint32(0))
        put64(at + _DETAIL, np.uint64(barrier))
        put32(at + _SIZE, np.uint32(waits))


@callee
def note_opening(machine: EmulatedMachine, cta: ResidentCta, barrier: int) -> None:
    """A barrier of a CTA lets its warps go."""
    if machine.events != 0:
        at = _append(machine, OPEN, cta.slot, cta.slot * machine.warps_per_cta, cta.index, 0, np.uint32(0))
        put64(at + _DETAIL, np.uint64(barrier))


@callee
def note_span(
    machine: EmulatedMachine, cta: ResidentCta, pc: int, kind: int, space: int, place: int, address: int, size: int
) -> None:
    """Bytes were written at a place of the host, which shared memory means where the address is of it."""
    if machine.events != 0:
        slot, inside = cta.slot, address
        if space == SHARED:
            slot = (place - machine.shared) // machine.shared_stride
            inside = (place - machine.shared) % machine.shared_stride
        at = _append(machine, SPAN, slot, slot * machine.warps_per_cta, cta.index, pc, np.uint32(0))
        put32(at + _KIND, np.uint32(kind))
        put32(at + _SPACE, np.uint32(space))
        put32(at + _SIZE, np.uint32(size))
        put64(at + _DETAIL, np.uint64(inside))


@callee
def note_count(
    machine: EmulatedMachine, cta: ResidentCta, warp: ResidentWarp, pc: int, mask: Lanes, barrier: int, open_: bool
) -> None:
    """Lanes of a warp have arrived at a barrier that counts, or found it open."""
    if machine.events != 0 and mask != 0:
        at = _append(machine, COUNT, cta.leader, place_of(machine, cta, warp), cta.index, pc, mask)
        put32(at + _SIZE, np.uint32(open_))
        put64(at + _DETAIL, np.uint64(barrier))


@callee
def equal_lanes(machine: EmulatedMachine, instruction: EncodedInstruction, rows: int, mask: Lanes, base: int) -> Lanes:
    """The lanes whose registers hold what memory holds at their addresses."""
    words = int64(instruction.size) > 4
    size = int64(instruction.size)
    equal, left = np.uint32(0), mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        at = base + int64(get64(machine.addresses + 8 * lane))
        same = True
        for element in range(instruction.elements):
            row = rows + instruction.rows[element] + 4 * lane
            for byte in range(size):
                source = row + 128 + byte - 4 if words and byte >= 4 else row + byte
                same = same and get8(source) == get8(at + element * size + byte)
        if same:
            equal |= np.uint32(1) << np.uint32(lane)
    return equal
