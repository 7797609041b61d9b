"""Which warps could issue: the scoreboard, looked at when something has changed and not every cycle.

A warp that has been woken is examined once: it becomes ready, or it is blocked until a result of its own arrives.
"""

from __future__ import annotations

from typing import Any

from warploom.chip.memory import Port
from warploom.chip.pipeline.fetch import update_fetchable
from warploom.chip.sm.bits import NOTHING, bit, has, lowest, without_lowest
from warploom.chip.sm.columns import pc_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import hook, on_activate, on_blocked, on_metadata, on_suspend, on_unblocked, on_wait
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.observing import observed
from warploom.chip.sm.services import inlined
from warploom.compiler.code.table import Flag

FENCE = int(Flag.FENCE)


@inlined
def skip_metadata(ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """Let metadata in front of a warp's next instruction take effect."""
    state = sm.warp[warp]
    skipped = False
    while state.next < state.decoded and ctx.code[pc_at(ctx, state.next)].metadata:
        pc = pc_at(ctx, state.next)
        on_metadata(ctx.design.allocation, ctx, sm, cycle, warp, pc, ctx.code[pc].payload)
        on_metadata(ctx.design.hierarchy, ctx, sm, cycle, warp, pc, ctx.code[pc].payload)
        sm.count.metadata += 1
        state.next += 1
        skipped = True
    if skipped:
        update_fetchable(ctx, sm, warp)


@inlined
def begin_to_wait(ctx: Context, sm: Sm, cycle: int, warp: int, slow: bool) -> None:
    """A warp must wait, for memory if ``slow``: the scheduler is told once."""
    if not has(sm.waiting, warp):
        sm.waiting |= bit(warp)
        on_blocked(ctx.design.scheduler, ctx, sm, cycle, warp, slow)


@inlined
def begin_to_stand(ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """A warp must wait at a barrier or for registers: the scheduler is told once."""
    if not has(sm.waiting, warp):
        sm.waiting |= bit(warp)
        on_wait(ctx.design.scheduler, ctx, sm, cycle, warp)


@inlined
def cease_to_wait(ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """A warp need not wait any more; the scheduler is told if it was told that it must."""
    if has(sm.waiting, warp):
        sm.waiting &= ~bit(warp)
        on_unblocked(ctx.design.scheduler, ctx, sm, cycle, warp)


@hook()
def examine_woken(stages: Any, ctx: Context, sm: Sm, port: Port, cycle: int) -> None:
    """Sort the woken warps into ready and blocked, and tell the scheduler of changes."""
    while sm.woken != NOTHING:
        warp = lowest(sm.woken)
        sm.woken = without_lowest(sm.woken)
        state = sm.warp[warp]
        skip_metadata(ctx, sm, cycle, warp)
        if state.next >= state.decoded:
            continue
        row = ctx.code[pc_at(ctx, state.next)]
        hazard = state.pending_predicates & row.predicates_used
        slow = NOTHING
        for word in range(ctx.info.words):
            conflict = state.pending[word] & row.uses[word]
            hazard |= conflict
            slow |= conflict & state.long_latency[word]
        mine = bit(warp)
        if hazard != NOTHING:
            sm.blocked |= mine
            if observed(ctx.observers):
                sm.slow = sm.slow | mine if slow != NOTHING else sm.slow & ~mine
            begin_to_wait(ctx, sm, cycle, warp, slow != NOTHING)
            continue
        fence = row.traits & FENCE != 0 and (state.memory_in_flight > 0 or port.ldst.warp_stores[warp] > 0)
        if fence or state.atomics > 0:
            sm.stalled_memory |= mine
            begin_to_wait(ctx, sm, cycle, warp, True)
            continue
        cease_to_wait(ctx, sm, cycle, warp)
        sm.ready[row.unit] |= mine
    if sm.active != sm.known_active:
        tell_hierarchy(ctx, sm, cycle)


@inlined
def tell_hierarchy(ctx: Context, sm: Sm, cycle: int) -> None:
    """Tell the hierarchy of warps that the scheduler has put into ``sm.active`` or taken out."""
    changed = (sm.active ^ sm.known_active) & sm.resident
    sm.known_active = sm.active
    while changed != NOTHING:
        warp = lowest(changed)
        changed = without_lowest(changed)
        if has(sm.active, warp):
            on_activate(ctx.design.hierarchy, ctx, sm, cycle, warp)
        else:
            on_suspend(ctx.design.hierarchy, ctx, sm, cycle, warp)
