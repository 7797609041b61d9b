"""Loose round robin."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.register_file import policy
from warploom.register_file.bits import NOTHING, next_after
from warploom.register_file.services import scheduler_of


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

    def next_warp(policy, ctx: Any, sm: Any, cycle: int, scheduler: int, after: int) -> int:
        queue = (sm.ready[0] | sm.ready[1] | sm.ready[2] | sm.ready[3]) & sm.scheduler_warps[scheduler]
        return next_after(queue, after) if queue != NOTHING else -1

    def on_issue(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int, index: int) -> None:
        sm.scheduler.last[scheduler_of(ctx, warp)] = warp
