"""Owners of shared registers first, then warps that share none, then those that may have to wait."""

from __future__ import annotations

from typing import NamedTuple

from warploom.base.records import Mask
from warploom.chip.sm import Policies, policy
from warploom.chip.sm.bits import NOTHING
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import OLDEST, scheduler_of
from warploom.designs.policies.scheduler.greedy import LastIssued, forget_last, greedy_then
from warploom.papers.regmutex.owner_warp import Ownership


@policy
class OwnerWarpFirst(NamedTuple):
    """Warps that own shared registers, which their partners wait for, go first; within a class greedy, then oldest."""

    CHOICE = "scheduler"
    NAME = "owner-warp-first"
    SOURCE = "Jatala, Anantpur, Karkare: Improving GPU Performance Through Resource Sharing, HPDC 2016"
    STATE = LastIssued

    def conflict(policy, design: Policies) -> str | None:
        if design.allocation.NAME != "owner-warp":
            return "only allocation=owner-warp has owners to put first"
        return None

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        forget_last(sm)

    def choose(policy, ctx: Context, sm: Sm, cycle: int, scheduler: int, ready: Mask) -> int:
        shared: Ownership = sm.allocation
        candidates = ready & shared.owners
        if candidates == NOTHING:
            candidates = ready & ~shared.partners
        if candidates == NOTHING:
            candidates = ready
        return greedy_then(sm, scheduler, candidates, OLDEST)

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: LastIssued = sm.scheduler
        state.last[scheduler_of(ctx, warp)] = warp
