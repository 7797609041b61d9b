"""Greedy, then oldest."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.policies import policy
from warploom.policies.bits import NOTHING, has, lowest, without_lowest
from warploom.policies.services import scheduler_of


@policy
class Gto(NamedTuple):
    """Each scheduler stays with a warp as long as it can issue, then turns to the one that was launched first."""

    CHOICE = "scheduler"
    NAME = "gto"
    SOURCE = "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling, MICRO 2012; GPGPU-Sim's gto"
    STATE = (("last", "i8", (4,)),)

    def reset(policy, ctx: Any, sm: Any, cycle: int) -> None:
        for scheduler in range(4):
            sm.scheduler.last[scheduler] = -1

    def choose(policy, ctx: Any, sm: Any, cycle: int, scheduler: int, ready: Any) -> int:
        last = sm.scheduler.last[scheduler]
        if last >= 0 and has(ready, last):
            return last
        oldest = lowest(ready)
        rest = without_lowest(ready)
        while rest != NOTHING:
            warp = lowest(rest)
            if sm.warp[warp].age < sm.warp[oldest].age:
                oldest = warp
            rest = without_lowest(rest)
        return oldest

    def on_issue(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int, index: int) -> None:
        sm.scheduler.last[scheduler_of(ctx, warp)] = warp
