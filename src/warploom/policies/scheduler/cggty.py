"""Compiler-guided: greedy, then the youngest, or the warp that has waited longest."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from warploom.machines.schema import MAX_SCHEDULERS, MAX_WARPS
from warploom.records import Array, Mask, Record, i8
from warploom.register_file import policy
from warploom.register_file.bits import NOTHING, has, lowest, without_lowest
from warploom.register_file.context import Context
from warploom.register_file.layout import Sm
from warploom.register_file.services import YOUNGEST, first_by_age, inlined, scheduler_of

YOUNGEST_NEXT = 0


class Turns(Record):
    """Who issued last, and when each warp did."""

    last: Annotated[Array[i8], MAX_SCHEDULERS]  # of each scheduler the warp that issued last
    issued_at: Annotated[Array[i8], MAX_WARPS]  # of each warp the cycle of its last instruction, or of its launch


@inlined
def _longest_waiting(sm: Sm, warps: Mask) -> int:
    """Of some warps the one that issued longest ago, of equals the youngest; -1: there are none."""
    state: Turns = sm.scheduler
    if warps == NOTHING:
        return -1
    first = lowest(warps)
    rest = without_lowest(warps)
    while rest != NOTHING:
        warp = lowest(rest)
        rest = without_lowest(rest)
        later = state.issued_at[warp] - state.issued_at[first]
        if later < 0 or (later == 0 and sm.warp[warp].age > sm.warp[first].age):
            first = warp
    return first


@policy
class Cggty(NamedTuple):
    """Each scheduler stays with a warp as long as its control bits let it, then turns to the one that was launched last.

    That is what the paper found. On an H200 warps that could all go on share (microbenchmarks ``steady.*``), as they do with
    ``then=longest``; its kernels are a little nearer with the youngest.
    """

    CHOICE = "scheduler"
    NAME = "cggty"
    SOURCE = (
        "Huerta et al.: Analyzing Modern NVIDIA GPU cores, MICRO 2025, section 5.1; longest: microbenchmarks steady.* of an H200"
    )
    MEANING = {"then": "whom a scheduler turns to: the one that was launched last, or the one that issued longest ago"}
    LIMITS = {"then": ("youngest", "longest")}
    STATE = Turns

    then: str = "youngest"

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: Turns = sm.scheduler
        for scheduler in range(MAX_SCHEDULERS):
            state.last[scheduler] = -1

    def choose(policy, ctx: Context, sm: Sm, cycle: int, scheduler: int, ready: Mask) -> int:
        state: Turns = sm.scheduler
        last = state.last[scheduler]
        if last >= 0 and has(ready, last):
            return last
        if policy.then == YOUNGEST_NEXT:
            return first_by_age(sm, ready, YOUNGEST)
        return _longest_waiting(sm, ready)

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: Turns = sm.scheduler
        state.last[scheduler_of(ctx, warp)] = warp
        state.issued_at[warp] = cycle

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: Turns = sm.scheduler
        state.issued_at[warp] = cycle
