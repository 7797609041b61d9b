"""Greedy, then oldest."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.policies.scheduler.greedy import LAST_STATE, forget_last, greedy_then_oldest
from warploom.register_file import policy
from warploom.register_file.services import scheduler_of


@policy
class Gto(NamedTuple):
    """Each scheduler stays with a warp as long as it can issue, then turns to the one that was launched first."""

    CHOICE = "scheduler"
    NAME = "gto"
    SOURCE = "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling, MICRO 2012; GPGPU-Sim's gto"
    STATE = LAST_STATE

    def reset(policy, ctx: Any, sm: Any, cycle: int) -> None:
        forget_last(sm)

    def choose(policy, ctx: Any, sm: Any, cycle: int, scheduler: int, ready: Any) -> int:
        return greedy_then_oldest(sm, scheduler, ready)

    def on_issue(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int, index: int) -> None:
        sm.scheduler.last[scheduler_of(ctx, warp)] = warp
