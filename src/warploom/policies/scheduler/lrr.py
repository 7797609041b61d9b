"""Loose round robin."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.policies import policy
from warploom.policies.bits import next_after
from warploom.policies.services import scheduler_of


@policy
class Lrr(NamedTuple):
    """Each scheduler takes the first warp that can issue after the one it issued from last."""

    CHOICE = "scheduler"
    NAME = "lrr"
    SOURCE = "the usual name; GPGPU-Sim's lrr"
    STATE = (("last", "i8", (4,)),)

    def reset(policy, ctx: Any, sm: Any, cycle: int) -> None:
        for scheduler in range(4):
            sm.scheduler.last[scheduler] = 63

    def choose(policy, ctx: Any, sm: Any, cycle: int, scheduler: int, ready: Any) -> int:
        return next_after(ready, sm.scheduler.last[scheduler])

    def on_issue(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int, index: int) -> None:
        sm.scheduler.last[scheduler_of(ctx, warp)] = warp
