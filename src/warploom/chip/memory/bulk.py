"""Lines that the unit for copies of many bytes asks for, or sends, past the L1."""

from __future__ import annotations

from warploom.chip.machines import MachineRecord
from warploom.chip.memory.bits import sectors_in
from warploom.chip.memory.port import send
from warploom.chip.memory.state import ATOMIC, COPIED, SEVERAL, Ldst, Port
from warploom.jit import callee, whole

NOBODY = -1  # waits for a line that is stored


@whole
def ask_for_line(machine: MachineRecord, sm: Port, cycle: int, line: int, sectors: int, kind: int, copy: int) -> None:
    """Ask for sectors of a line, or send them; the copy of that number (or NOBODY) is told when they have come."""
    ldst = sm.ldst
    lanes = 1 | SEVERAL if kind == ATOMIC else 0
    send(machine, ldst, cycle, line, sectors, kind, lanes, COPIED, copy)
    if kind == ATOMIC:  # what is added leaves the SM as what is stored does
        ldst.port_free = cycle + max(1, sectors_in(sectors) * machine.interconnect.store_cycles)
    ldst.copied_lines += 1
    if copy >= 0:
        ldst.copy_lines[copy] += 1


@callee
def take_line(ldst: Ldst, copy: int) -> None:
    """A line has come, or been written. With the last one its copy is told of."""
    ldst.copied_lines -= 1
    if copy >= 0:
        ldst.copy_lines[copy] -= 1
        if ldst.copy_lines[copy] == 0:
            ldst.copy_ended[ldst.copies_ended] = copy
            ldst.copies_ended += 1
