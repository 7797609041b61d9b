"""Greedy, then oldest."""

from __future__ import annotations

from typing import NamedTuple

from warploom.base.records import Mask
from warploom.chip.sm import policy
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import OLDEST, scheduler_of
from warploom.designs.policies.scheduler.greedy import LastIssued, forget_last, greedy_then


@policy
class Gto(NamedTuple):
    """Each scheduler stays with a warp as long as it can issue, then turns to the one that was launched first."""

    CHOICE = "scheduler"
    NAME = "gto"
    SOURCE = "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling, MICRO 2012; GPGPU-Sim's gto"
    STATE = LastIssued

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        forget_last(sm)

    def choose(policy, ctx: Context, sm: Sm, cycle: int, scheduler: int, ready: Mask) -> int:
        return greedy_then(sm, scheduler, ready, OLDEST)

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: LastIssued = sm.scheduler
        state.last[scheduler_of(ctx, warp)] = warp
