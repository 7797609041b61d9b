"""Filling L2 between launches: lines that are in it although no SM has asked for them. Nothing is simulated for that."""

from __future__ import annotations

from warploom.base.records import Array, i8
from warploom.chip.machines import MachineRecord
from warploom.chip.memory.address import channel_of, first_way, slice_of, within_channel
from warploom.chip.memory.state import RECENT, Memory
from warploom.chip.sm.bits import signed
from warploom.jit import callee, whole


@callee
def _leave(machine: MachineRecord, memory: Memory, line: int, first_sector: int, end_sector: int, used: int) -> None:
    """Leave a line's sectors among some in L2, clean, in the half that is their home.

    A line takes the place of that which was used longest ago in its set. If that one was written, it went to DRAM meanwhile.
    """
    within = within_channel(machine, memory, line)
    first = first_way(machine, memory, slice_of(memory, channel_of(machine, memory, line), within), within)
    oldest = first
    for way in range(first, first + machine.l2.ways):
        if memory.tag[way] == within + 1:
            oldest = way
            break
        if memory.line[way].used < memory.line[oldest].used:
            oldest = way
    entry = memory.line[oldest]
    if memory.tag[oldest] != within + 1:
        memory.tag[oldest] = within + 1
        entry.valid, entry.dirty, entry.copied = 0, 0, 0
    written = 0
    for sector in range(max(4 * line, first_sector), min(4 * line + 4, end_sector)):
        written |= 1 << (sector & 3)
    entry.valid |= written
    entry.copied = signed(entry.copied) & ~written
    entry.used = used


@whole
def warm_l2(machine: MachineRecord, memory: Memory, base_sector: int, count: int) -> None:
    """Leave `count` sectors from `base_sector` in L2 as if they had come before all launches; later ones push out earlier."""
    for line in range(base_sector >> 2, (base_sector + count + 3) >> 2):
        memory.warm_clock += 1
        _leave(machine, memory, line, base_sector, base_sector + count, memory.warm_clock)


@whole
def leave_in_l2(machine: MachineRecord, memories: Array[Memory], first: Array[i8], end: Array[i8], cycle: int) -> int:
    """Leave runs of sectors, each from a first one to before an end, in L2; the cycle after the last.

    They come one after the other, a line a cycle: what came earlier, by launches too, is pushed out before what came later.
    """
    memory = memories[0]
    for run in range(len(first)):
        for line in range(first[run] >> 2, (end[run] + 3) >> 2):
            _leave(machine, memory, line, first[run], end[run], RECENT + cycle)
            cycle += 1
    return cycle
