"""Compiler-guided: greedy, then those that have just issued, then the youngest, or the warp that has waited longest."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from warploom.base.records import Array, Mask, Record, i8
from warploom.chip.machines.limits import MAX_SCHEDULERS, MAX_WARPS
from warploom.chip.sm import policy
from warploom.chip.sm.bits import NOTHING, bit, has, lowest, without_lowest
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import OLDEST, YOUNGEST, first_by_age, inlined, scheduler_of

YOUNGEST_NEXT = 0


class Turns(Record):
    """Who issued last, and when each warp did."""

    last: Annotated[Array[i8], MAX_SCHEDULERS]  # of each scheduler the warp that issued last
    issued_at: Annotated[Array[i8], MAX_WARPS]  # of each warp the cycle of its last instruction, or of its launch


@inlined
def _by_issue(sm: Sm, warps: Mask, order: int) -> int:
    """Of some warps, one at least, the one that issued longest ago (`OLDEST`) or last (`YOUNGEST`); of equals the youngest."""
    state: Turns = sm.scheduler
    best = order * state.issued_at[lowest(warps)]
    equals = NOTHING
    while warps != NOTHING:
        warp = lowest(warps)
        warps = without_lowest(warps)
        key = order * state.issued_at[warp]
        if key < best:
            best, equals = key, NOTHING
        if key == best:
            equals |= bit(warp)
    return first_by_age(sm, equals, YOUNGEST)


@policy
class Cggty(NamedTuple):
    """Each scheduler stays with a warp as long as its control bits let it, then turns to one that has just issued, then others.

    The paper found the warp that was launched last to be next. On an H200 warps that wait for no more than their stall count keep
    those out that wait longer (microbenchmarks ``turns.*``), and one that comes back from a branch finds its turn taken
    (``steady.*.12w``): of those that have issued in the last cycles (``stays``) the latest is next. Who comes behind them is not
    settled: kernels are nearer with the youngest, ``steady.*.16w`` with the one that has waited longest.
    """

    CHOICE = "scheduler"
    NAME = "cggty"
    SOURCE = (
        "Huerta et al.: Analyzing Modern NVIDIA GPU cores, MICRO 2025, section 5.1; microbenchmarks turns.*, steady.* of an H200"
    )
    MEANING = {
        "stays": "cycles after its last instruction in which a warp comes before those that issued earlier: a stall count's",
        "then": "whom a scheduler turns to where none stays: the one that was launched last, or the one that issued longest ago",
    }
    LIMITS = {"then": ("youngest", "longest"), "stays": (0, 1 << 20)}
    STATE = Turns

    then: str = "youngest"
    stays: int = 16

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: Turns = sm.scheduler
        for scheduler in range(MAX_SCHEDULERS):
            state.last[scheduler] = -1

    def choose(policy, ctx: Context, sm: Sm, cycle: int, scheduler: int, ready: Mask) -> int:
        state: Turns = sm.scheduler
        last = state.last[scheduler]
        if last >= 0 and has(ready, last):
            return last
        latest = _by_issue(sm, ready, YOUNGEST)
        if cycle - state.issued_at[latest] < policy.stays:
            return latest
        if policy.then == YOUNGEST_NEXT:
            return first_by_age(sm, ready, YOUNGEST)
        return _by_issue(sm, ready, OLDEST)

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: Turns = sm.scheduler
        state.last[scheduler_of(ctx, warp)] = warp
        state.issued_at[warp] = cycle

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: Turns = sm.scheduler
        state.issued_at[warp] = cycle
