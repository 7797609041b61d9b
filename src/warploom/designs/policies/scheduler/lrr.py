"""Loose round robin."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from warploom.base.records import Array, Mask, Record, i8
from warploom.chip.machines.limits import MAX_SCHEDULERS, MAX_WARPS
from warploom.chip.sm import policy
from warploom.chip.sm.bits import NOTHING, next_after
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import scheduler_of


class State(Record):
    """Whose turn it was."""

    last: Annotated[Array[i8], MAX_SCHEDULERS]  # of each scheduler the warp that issued last


@policy
class Lrr(NamedTuple):
    """Each scheduler takes the first warp that can issue after the one it issued from last."""

    CHOICE = "scheduler"
    NAME = "lrr"
    SOURCE = "the usual name; GPGPU-Sim's lrr"
    STATE = State

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.scheduler
        for scheduler in range(MAX_SCHEDULERS):
            state.last[scheduler] = MAX_WARPS - 1

    def choose(policy, ctx: Context, sm: Sm, cycle: int, scheduler: int, ready: Mask) -> int:
        state: State = sm.scheduler
        return next_after(ready, state.last[scheduler])

    def next_warp(policy, ctx: Context, sm: Sm, cycle: int, scheduler: int, after: int) -> int:
        queue = (sm.ready[0] | sm.ready[1] | sm.ready[2] | sm.ready[3]) & sm.scheduler_warps[scheduler]
        return next_after(queue, after) if queue != NOTHING else -1

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: State = sm.scheduler
        state.last[scheduler_of(ctx, warp)] = warp
