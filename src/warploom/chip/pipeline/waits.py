"""For observers: why each warp did not issue in a cycle, told when it changes."""

from __future__ import annotations

from typing import Any

from warploom.base.records import Mask
from warploom.chip.sm.bits import NOTHING, lowest, without_lowest
from warploom.chip.sm.columns import pc_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import hook
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.observing import (
    ALLOCATION,
    BARRIER,
    EXIT,
    FETCH,
    INACTIVE,
    MEMORY,
    NOT_CHOSEN,
    PIPELINE,
    RESULT,
    on_waits,
)
from warploom.chip.sm.services import inlined, separate


@hook()
def ready_warps(stages: Any, sm: Sm) -> Mask:
    """The warps whose next instruction waits for no other."""
    return sm.ready[0] | sm.ready[1] | sm.ready[2] | sm.ready[3]


@separate
def tell_waits(ctx: Context, sm: Sm, cycle: int) -> None:
    """Sort the resident warps that were not issued in this cycle by reason, once all schedulers have had their turn."""
    waiting = sm.resident & ~sm.issued_now
    ready = ready_warps(ctx.stages, sm)
    opened = sm.woken & sm.waits[BARRIER]  # it has just opened: examined in the next cycle
    waiting = _tell(ctx, sm, cycle, EXIT, sm.finished, waiting)
    waiting = _tell(ctx, sm, cycle, ALLOCATION, sm.held, waiting)
    waiting = _tell(ctx, sm, cycle, MEMORY, (sm.blocked & sm.slow) | sm.stalled_memory, waiting)
    waiting = _tell(ctx, sm, cycle, RESULT, sm.blocked, waiting)
    waiting = _tell(ctx, sm, cycle, BARRIER, sm.at_barrier | opened, waiting)
    waiting = _tell(ctx, sm, cycle, PIPELINE, sm.crowded | sm.woken, waiting)
    waiting = _tell(ctx, sm, cycle, INACTIVE, ready & ~sm.active, waiting)
    waiting = _tell(ctx, sm, cycle, NOT_CHOSEN, ready, waiting)
    _tell(ctx, sm, cycle, FETCH, waiting, waiting)


@inlined
def _tell(ctx: Context, sm: Sm, cycle: int, wait: int, warps: Mask, waiting: Mask) -> Mask:
    """Tell of the warps among those waiting that a reason is newly true of; the others of them."""
    mine = warps & waiting
    new = mine & ~sm.waits[wait]
    sm.waits[wait] = mine
    while new != NOTHING:
        warp = lowest(new)
        new = without_lowest(new)
        pc = -1
        if wait != EXIT and sm.warp[warp].next < sm.warp[warp].end:
            pc = pc_at(ctx, sm.warp[warp].next)
        on_waits(ctx.observers, sm.observed, ctx, cycle, warp, wait, pc)
    return waiting & ~mine
