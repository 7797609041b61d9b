"""What schedulers that stay with a warp share: which one issued last, and the choice between it and others by age."""

from __future__ import annotations

from typing import Annotated

from warploom.base.records import Array, Mask, Record, i8
from warploom.chip.machines.limits import MAX_SCHEDULERS
from warploom.chip.sm.bits import has
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import first_by_age, inlined


class LastIssued(Record):
    """The state of a scheduler that stays with a warp."""

    last: Annotated[Array[i8], MAX_SCHEDULERS]  # of each scheduler the warp that issued last


@inlined
def forget_last(sm: Sm) -> None:
    """No warp has issued yet."""
    state: LastIssued = sm.scheduler
    for scheduler in range(MAX_SCHEDULERS):
        state.last[scheduler] = -1


@inlined
def greedy_then(sm: Sm, scheduler: int, warps: Mask, order: int) -> int:
    """Of some warps the one that this scheduler issued from last, else the `OLDEST` or the `YOUNGEST`."""
    state: LastIssued = sm.scheduler
    last = state.last[scheduler]
    if last >= 0 and has(warps, last):
        return last
    return first_by_age(sm, warps, order)
