"""Owners of shared registers first, then warps that share none, then those that may have to wait."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.policies import policy
from warploom.policies.bits import NOTHING, has, lowest, without_lowest
from warploom.policies.services import scheduler_of


@policy
class OwnerWarpFirst(NamedTuple):
    """Warps that own shared registers, which their partners wait for, go first; within a class greedy, then oldest."""

    CHOICE = "scheduler"
    NAME = "owner-warp-first"
    SOURCE = "Jatala, Anantpur, Karkare: Improving GPU Performance Through Resource Sharing, HPDC 2016"
    STATE = (("last", "i8", (4,)),)

    def conflict(policy, design: Any) -> str | None:
        if design.allocation.NAME != "owner-warp":
            return "only allocation=owner-warp has owners to put first"
        return None

    def reset(policy, ctx: Any, sm: Any, cycle: int) -> None:
        for scheduler in range(4):
            sm.scheduler.last[scheduler] = -1

    def choose(policy, ctx: Any, sm: Any, cycle: int, scheduler: int, ready: Any) -> int:
        owners, partners = sm.allocation.owners, sm.allocation.partners
        candidates = ready & owners
        if candidates == NOTHING:
            candidates = ready & ~partners
        if candidates == NOTHING:
            candidates = ready
        last = sm.scheduler.last[scheduler]
        if last >= 0 and has(candidates, last):
            return last
        oldest = lowest(candidates)
        rest = without_lowest(candidates)
        while rest != NOTHING:
            warp = lowest(rest)
            if sm.warp[warp].age < sm.warp[oldest].age:
                oldest = warp
            rest = without_lowest(rest)
        return oldest

    def on_issue(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int, index: int) -> None:
        sm.scheduler.last[scheduler_of(ctx, warp)] = warp
