"""Compiler-guided: greedy, then youngest."""

from __future__ import annotations

from typing import NamedTuple

from warploom.policies.scheduler.greedy import LastIssued, forget_last, greedy_then
from warploom.records import Mask
from warploom.register_file import policy
from warploom.register_file.context import Context
from warploom.register_file.layout import Sm
from warploom.register_file.services import YOUNGEST, scheduler_of


@policy
class Cggty(NamedTuple):
    """Each scheduler stays with a warp as long as its control bits let it, then turns to the one that was launched last."""

    CHOICE = "scheduler"
    NAME = "cggty"
    SOURCE = "Huerta et al.: Analyzing Modern NVIDIA GPU cores, MICRO 2025, section 5.1"
    STATE = LastIssued

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        forget_last(sm)

    def choose(policy, ctx: Context, sm: Sm, cycle: int, scheduler: int, ready: Mask) -> int:
        return greedy_then(sm, scheduler, ready, YOUNGEST)

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: LastIssued = sm.scheduler
        state.last[scheduler_of(ctx, warp)] = warp
