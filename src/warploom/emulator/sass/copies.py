"""Copies from device memory to shared memory: what a load has brought goes on, without a register."""

from __future__ import annotations

import numpy as np

from warploom.base.records import Lanes, int64
from warploom.compiler.code.table import Space
from warploom.emulator.clusters import OFFSET
from warploom.emulator.memory import fail
from warploom.emulator.pointers import first_lane, get32, put32, put64
from warploom.emulator.records import MOST_ELEMENTS, EmulatedMachine, Fault, Kind, ResidentCta
from warploom.emulator.sass.records import SassInstruction, SassWarp
from warploom.emulator.watch.events import note_access
from warploom.jit import callee

ADDRESS_ROW = MOST_ELEMENTS - 1  # among the rows of an instruction: addresses in shared memory
SHARED, BOUNDS, ALIGNMENT = int(Space.SHARED), int(Fault.BOUNDS), int(Fault.ALIGNMENT)
STORE = int(Kind.STORE)
_WORD_BYTES = 4


@callee
def put_into_shared(
    machine: EmulatedMachine, cta: ResidentCta, warp: SassWarp, instruction: SassInstruction, rows: int, mask: Lanes
) -> bool:
    """Store the words of the lanes; False if one must not be stored where it should."""
    size = int64(instruction.elements) * _WORD_BYTES
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        address = int64(get32(rows + instruction.rows[ADDRESS_ROW] + 4 * lane))
        if machine.cluster_size > 1:
            address &= OFFSET
        if address + size > machine.shared_bytes:
            return fail(machine, BOUNDS, lane, address, SHARED)
        if address & (size - 1):
            return fail(machine, ALIGNMENT, lane, address, SHARED)
        for element in range(instruction.elements):
            put32(cta.shared + address + _WORD_BYTES * element, get32(rows + instruction.rows[element] + 4 * lane))
        put64(machine.addresses + 8 * lane, np.uint64(address))
    if machine.events != 0 and mask != 0:
        note_access(machine, cta, warp, instruction, STORE, mask, SHARED, cta.slot, np.uint32(0), np.uint32(0))
    return True
