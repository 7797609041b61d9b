"""Two levels: a few active warps that may issue, and the rest."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Mask, Record, i8
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_SCHEDULERS, MAX_WARPS
from warploom.chip.sm import policy
from warploom.chip.sm.bits import NOTHING, bit, count, has, next_after
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import inlined, scheduler_of

GREEDY = 0
SCHEDULER = 1  # whose active warps are counted


class State(Record):
    """Who is in which level."""

    last: Annotated[Array[i8], MAX_SCHEDULERS]  # of each scheduler the warp that issued last
    outer: Annotated[Array[i8], MAX_SCHEDULERS]  # and the one that became active last
    eligible: Mask  # could be active
    parked: Mask  # active, but at a barrier or held back
    suspensions: i8  # warps that left for the result of a slow load, or at a fence
    displaced: i8  # warps that left because they stood at a barrier, or were held back, and another was ready


@inlined
def _promote(policy: TwoLevel, ctx: Context, sm: Sm, scheduler: int) -> None:
    """Fill the scheduler's active set with ready warps; one that waits at a barrier gives way only when it is needed."""
    state: State = sm.scheduler
    mine = sm.scheduler_warps[scheduler]
    if (state.eligible & mine) == NOTHING:
        return  # the usual case, without a division
    room = policy.active if policy.each == SCHEDULER else max(1, policy.active // ctx.machine.sm.schedulers)
    while (state.eligible & mine) != NOTHING:
        if count(sm.active & mine) >= room:
            parked = state.parked & mine
            if parked == NOTHING:
                break
            warp = next_after(parked, state.outer[scheduler])
            sm.active &= ~bit(warp)
            state.parked &= ~bit(warp)
            state.displaced += 1
        warp = next_after(state.eligible & mine, state.outer[scheduler])
        state.outer[scheduler] = warp
        state.eligible &= ~bit(warp)
        sm.active |= bit(warp)


@policy
class TwoLevel(NamedTuple):
    """Only active warps may issue; a warp leaves when it needs the result of a slow load, the next ready one takes its place."""

    CHOICE = "scheduler"
    NAME = "two-level"
    SOURCE = "Gebhart et al., ISCA 2011, section 4.2"
    MEANING = {
        "active": "active warps",
        "inner": "order among the active warps",
        "each": "whose active warps are counted: those of an SM, split over its schedulers, or of each scheduler",
    }
    LIMITS = {"active": (1, MAX_WARPS), "inner": ("greedy", "round-robin"), "each": ("sm", "scheduler")}
    STATE = State

    active: int = 8
    inner: str = "greedy"
    each: str = "sm"

    COUNTERS = {
        "suspensions": CounterMeaning(
            "warps", "Times that a warp left the active ones for the result of a slow load, or at a fence."
        ),
        "displaced": CounterMeaning(
            "warps",
            "Times that a warp left the active ones because it stood at a barrier, or was held back, and another was ready.",
        ),
    }

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.scheduler
        sm.active = NOTHING
        for scheduler in range(MAX_SCHEDULERS):
            state.last[scheduler] = MAX_WARPS - 1
            state.outer[scheduler] = MAX_WARPS - 1

    def choose(policy, ctx: Context, sm: Sm, cycle: int, scheduler: int, ready: Mask) -> int:
        state: State = sm.scheduler
        last = state.last[scheduler]
        if policy.inner == GREEDY and has(ready, last):
            return last
        return next_after(ready, last)

    def next_warp(policy, ctx: Context, sm: Sm, cycle: int, scheduler: int, after: int) -> int:
        """Round robin goes through the active warps that are ready; greedy stays where it is."""
        mine = sm.active & sm.scheduler_warps[scheduler]
        if policy.inner == GREEDY and has(mine & ~sm.waiting, after):
            return after
        queue = (sm.ready[0] | sm.ready[1] | sm.ready[2] | sm.ready[3]) & mine
        return next_after(queue, after) if queue != NOTHING else -1

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: State = sm.scheduler
        state.last[scheduler_of(ctx, warp)] = warp
        if index + 1 >= sm.warp[warp].end:  # nothing left to issue: it need not stay until its stores are acknowledged
            sm.active &= ~bit(warp)
            _promote(policy, ctx, sm, scheduler_of(ctx, warp))

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.scheduler
        state.eligible |= bit(warp)
        _promote(policy, ctx, sm, scheduler_of(ctx, warp))

    def on_warp_exit(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.scheduler
        sm.active &= ~bit(warp)
        state.eligible &= ~bit(warp)
        state.parked &= ~bit(warp)
        _promote(policy, ctx, sm, scheduler_of(ctx, warp))

    def on_blocked(policy, ctx: Context, sm: Sm, cycle: int, warp: int, long_latency: bool) -> None:
        state: State = sm.scheduler
        if long_latency:
            if has(sm.active, warp):
                state.suspensions += 1
            sm.active &= ~bit(warp)
            state.eligible &= ~bit(warp)
            _promote(policy, ctx, sm, scheduler_of(ctx, warp))

    def on_wait(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.scheduler
        if has(sm.active, warp):
            state.parked |= bit(warp)
        state.eligible &= ~bit(warp)
        _promote(policy, ctx, sm, scheduler_of(ctx, warp))

    def on_unblocked(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.scheduler
        state.parked &= ~bit(warp)
        if not has(sm.active, warp):
            state.eligible |= bit(warp)
            _promote(policy, ctx, sm, scheduler_of(ctx, warp))

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return {name: int(states[name].sum()) for name in ("suspensions", "displaced")}

    def storage_bits(policy, machine: Machine) -> int:
        queues = machine.sm.schedulers if policy.each == "scheduler" else 1
        return policy.active * queues * 6  # the queue of active warps
