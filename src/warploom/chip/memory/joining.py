"""Requests of several SMs that are joined on their way to L2.

SMs come in groups with one way to L2. While a read of a group is under way, further reads of the same sectors join it: L2 sees
one, and its reply goes to all of them. The model looks for it where requests reach the tags, which is as long after the
group for one read as for the next. A store joins one of the same sectors as it leaves its SM.
"""

from __future__ import annotations

from warploom.chip.machines import MachineRecord
from warploom.chip.memory.state import (
    COPIED,
    FILL_CODE,
    FILL_CONSTANT,
    FILL_DATA,
    FILL_TEXTURE,
    JOINERS,
    READ,
    WRITE,
    Memory,
    Request,
)
from warploom.chip.sm.bits import signed
from warploom.jit import callee


@callee
def joins(machine: MachineRecord, memory: Memory, node: Request, waiting: int, cycle: int) -> bool:
    """Whether a read joins an earlier one of its group; `waiting` are sectors that are still on their way from DRAM."""
    code = node.reply in (FILL_CODE, FILL_CONSTANT)
    if machine.interconnect.groups == 0 or node.kind != READ or not (code or node.reply in (FILL_DATA, FILL_TEXTURE, COPIED)):
        return False
    first = memory.joiner[node.sm % machine.interconnect.groups, node.line % JOINERS]
    if first.line != node.line + 1 or signed(node.sectors) & ~signed(first.sectors) != 0:
        return False
    if first.count >= (machine.interconnect.joined_code if code else machine.interconnect.joined):
        return False
    if waiting == 0 and cycle >= first.until:
        return False
    first.count += 1
    return True


@callee
def lead(machine: MachineRecord, memory: Memory, node: Request, cycle: int) -> None:
    """A read goes on to L2: others of its group can join it."""
    first = memory.joiner[node.sm % machine.interconnect.groups, node.line % JOINERS]
    first.until = cycle + machine.l2.latency
    first.line = node.line + 1
    first.sectors = node.sectors
    first.count = 1


@callee
def joins_a_store(machine: MachineRecord, memory: Memory, node: Request) -> bool:
    """Whether a store joins an earlier one of its group, which is not yet written; if not, others can join it."""
    if machine.interconnect.groups == 0 or node.kind != WRITE:
        return False
    first = memory.written[node.sm % machine.interconnect.groups, node.line % JOINERS]
    same = first.line == node.line + 1 and signed(node.sectors) & ~signed(first.sectors) == 0
    if same and node.cycle < first.until and first.count < machine.interconnect.joined:
        first.count += 1
        return True
    first.line = node.line + 1
    first.sectors = node.sectors
    first.until = node.cycle + machine.l2.latency
    first.count = 1
    return False
