"""Where a line lives: channel, slice, set, DRAM bank and row.

Neighbouring blocks go round the channels; what is left of the address numbers the lines of one channel (`within`). In it the
bank's lowest bit picks the slice, and is dropped from the set index. Only the first two functions divide; all others start
from their results.
"""

from __future__ import annotations

from warploom.chip.machines import MachineRecord
from warploom.chip.memory.state import GOLDEN, Memory
from warploom.chip.sm.bits import signed
from warploom.jit import callee


@callee
def _place(machine: MachineRecord, memory: Memory, line: int) -> int:
    """The place of a line's block in the row that goes round the channels: its own, or where they are hashed another one nearby.

    A hash exchanges 768 blocks among each other, threes of them together, so that no stride meets only a few channels. Of
    neighbours as many come to the same one as chance would bring there. Every step is one to one: no two blocks have one place.
    """
    block = signed(line) >> memory.interleave_shift
    if not machine.dram.hashed:
        return block
    number = block // 3
    third = (block + (number * GOLDEN >> 13 & 0xFF)) % 3
    mixed = (number + ((number >> 8) * GOLDEN >> 7)) * 0x7B & 0xFF
    mixed = (mixed ^ mixed >> 3) * 0x0D & 0xFF
    mixed = (mixed ^ mixed >> 4) * 0x7B & 0xFF
    return (number >> 8 << 8 | mixed ^ mixed >> 3) * 3 + third


@callee
def channel_of(machine: MachineRecord, memory: Memory, line: int) -> int:
    """The DRAM channel of a line."""
    return _place(machine, memory, line) % machine.dram.channels


@callee
def within_channel(machine: MachineRecord, memory: Memory, line: int) -> int:
    """The line's number among those of its channel."""
    shift = memory.interleave_shift
    return _place(machine, memory, line) // machine.dram.channels << shift | line & ((1 << shift) - 1)


@callee
def slice_of(memory: Memory, channel: int, within: int) -> int:
    """The L2 slice of a line: one or two to a channel."""
    twice = memory.slices_per_channel - 1
    return channel << twice | within >> memory.slice_shift & twice


@callee
def channel_of_slice(memory: Memory, number: int) -> int:
    """The channel behind a slice."""
    return number >> (memory.slices_per_channel - 1)


@callee
def first_way(machine: MachineRecord, memory: Memory, number: int, within: int) -> int:
    """The first way of a line's set in its slice, among all lines of L2."""
    low = memory.slice_shift
    high = low + memory.slices_per_channel - 1
    index = within >> high << low | within & ((1 << low) - 1)
    if machine.l2.hashed:
        index ^= index >> 8 ^ index >> 16
    return (number * machine.l2.sets + (index & (machine.l2.sets - 1))) * machine.l2.ways


@callee
def bank_of(machine: MachineRecord, within: int) -> int:
    """The DRAM bank of a line."""
    low = within >> (machine.dram.bank_low_bit - 7) & 1
    return (within >> (machine.dram.bank_high_bit - 7) << 1 | low) & (machine.dram.banks - 1)


@callee
def row_of(machine: MachineRecord, within: int) -> int:
    """The row of a line in its bank."""
    return within >> (machine.dram.row_bit - 7)
