"""Copies from device memory to shared memory: what a load has brought goes on, without a register."""

from __future__ import annotations

import numpy as np

from warploom.code.table import Space
from warploom.emulator.clusters import OFFSET
from warploom.emulator.memory import fail
from warploom.emulator.pointers import first_lane, get32, put32
from warploom.emulator.records import MOST_ELEMENTS, Fault
from warploom.jit import callee

ADDRESS_ROW = MOST_ELEMENTS - 1  # among the rows of an instruction: addresses in shared memory
SHARED, BOUNDS, ALIGNMENT = int(Space.SHARED), int(Fault.BOUNDS), int(Fault.ALIGNMENT)
_WORD_BYTES = 4


@callee
def put_into_shared(machine, cta, instruction, rows, mask):
    """Store the words of the lanes; False if one must not be stored where it should."""
    size = np.int64(instruction.elements) * _WORD_BYTES
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        address = np.int64(get32(rows + instruction.rows[ADDRESS_ROW] + 4 * lane))
        if machine.cluster_size > 1:
            address &= OFFSET
        if address + size > machine.shared_bytes:
            return fail(machine, BOUNDS, lane, address, SHARED)
        if address & (size - 1):
            return fail(machine, ALIGNMENT, lane, address, SHARED)
        for element in range(instruction.elements):
            put32(cta.shared + address + _WORD_BYTES * element, get32(rows + instruction.rows[element] + 4 * lane))
    return True
