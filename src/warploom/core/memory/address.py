"""Where a line lives: channel, slice, set, DRAM bank and row.

Neighbouring blocks go round the channels; what is left of the address numbers the lines of one channel. In it the bank's
lowest bit picks the slice, and is dropped from the set index.
"""

from __future__ import annotations

from warploom.core.memory.state import Record
from warploom.jit import njit


@njit
def channel_of(machine: Record, memory: Record, line: int) -> int:
    """The DRAM channel of a line."""
    return (line >> memory.interleave_shift) % machine.dram_channels


@njit
def within_channel(machine: Record, memory: Record, line: int) -> int:
    """The line's number among those of its channel."""
    shift = memory.interleave_shift
    return (line >> shift) // machine.dram_channels << shift | line & ((1 << shift) - 1)


@njit
def slice_of(machine: Record, memory: Record, line: int) -> int:
    """The L2 slice of a line."""
    per_channel = memory.slices_per_channel
    part = within_channel(machine, memory, line) >> memory.slice_shift & (per_channel - 1)
    return channel_of(machine, memory, line) * per_channel + part


@njit
def first_way(machine: Record, memory: Record, line: int) -> int:
    """The index of the first way of the line's set, among all lines of L2."""
    within = within_channel(machine, memory, line)
    low = memory.slice_shift
    high = low + (1 if memory.slices_per_channel == 2 else 0)
    number = within >> high << low | within & ((1 << low) - 1)
    place = slice_of(machine, memory, line) * machine.l2_sets + (number & (machine.l2_sets - 1))
    return place * machine.l2_ways


@njit
def bank_of(machine: Record, memory: Record, line: int) -> int:
    """The DRAM bank of a line within its channel."""
    within = within_channel(machine, memory, line)
    low = within >> (machine.dram_bank_low_bit - 7) & 1
    return (within >> (machine.dram_bank_high_bit - 7) << 1 | low) & (machine.dram_banks - 1)


@njit
def row_of(machine: Record, memory: Record, line: int) -> int:
    """The row of a line in its bank."""
    return within_channel(machine, memory, line) >> (machine.dram_row_bit - 7)
