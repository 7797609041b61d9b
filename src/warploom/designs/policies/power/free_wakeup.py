"""What no power policy can better: entries that hold no register are off, all others drowsy, and nobody waits for them."""

from __future__ import annotations

from typing import NamedTuple

from warploom.chip.sm import policy
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import DROWSY, OFF, ON, move_entries


@policy
class FreeWakeup(NamedTuple):
    """An entry leaks as a drowsy one while it holds a register, even in the cycles of its accesses, and not at all otherwise."""

    CHOICE = "power"
    NAME = "free-wakeup"
    SOURCE = "a limit, not a mechanism"
    IDEAL = True

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        move_entries(sm, cycle, ON, OFF, ctx.info.entries)

    def on_allocate(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        move_entries(sm, cycle, OFF, DROWSY, 1)

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        move_entries(sm, cycle, DROWSY, OFF, 1)

    def awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> bool:
        return sm.entry[entry].allocated
