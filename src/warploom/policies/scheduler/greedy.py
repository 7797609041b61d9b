"""What schedulers that stay with a warp share: which one issued last, and the choice between it and others by age."""

from __future__ import annotations

from typing import Annotated

from warploom.machines.schema import MAX_SCHEDULERS
from warploom.records import Array, Mask, Record, i8
from warploom.register_file.bits import NOTHING, has, lowest, without_lowest
from warploom.register_file.layout import Sm
from warploom.register_file.services import inlined

OLDEST, YOUNGEST = 1, -1  # which of several warps comes first: the one that was launched first, or last


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
    """Of some warps the one that this scheduler issued from last, else the first by age: `OLDEST` or `YOUNGEST`."""
    state: LastIssued = sm.scheduler
    last = state.last[scheduler]
    if last >= 0 and has(warps, last):
        return last
    first = lowest(warps)
    rest = without_lowest(warps)
    while rest != NOTHING:
        warp = lowest(rest)
        if order * sm.warp[warp].age < order * sm.warp[first].age:
            first = warp
        rest = without_lowest(rest)
    return first
