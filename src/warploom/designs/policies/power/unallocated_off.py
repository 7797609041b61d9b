"""Entries that hold no register are off."""

from __future__ import annotations

from typing import NamedTuple

from warploom.chip.machines import Machine
from warploom.chip.sm import policy
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import OFF, ON, move_entries


@policy
class UnallocatedOff(NamedTuple):
    """An entry is on while the allocation policy has given it to a register, and off otherwise; waking takes no time."""

    CHOICE = "power"
    NAME = "unallocated-off"
    SOURCE = "Abdel-Majeed and Annavaram, HPCA 2013, section 3: what allocation alone saves"
    IDEAL = True  # waking takes no time

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        move_entries(sm, cycle, ON, OFF, ctx.info.entries)

    def on_allocate(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        move_entries(sm, cycle, OFF, ON, 1)

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        move_entries(sm, cycle, ON, OFF, 1)

    def awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> bool:
        return sm.entry[entry].allocated

    def storage_bits(policy, machine: Machine) -> int:
        return machine.warp_registers
