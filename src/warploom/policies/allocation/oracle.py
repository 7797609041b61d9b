"""The best that allocation can do: a register exists from the instruction that writes it to the last one that reads the value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warploom.records import Record, i8
from warploom.register_file import policy
from warploom.register_file.columns import DEAD_WRITE, last_at
from warploom.register_file.context import Context
from warploom.register_file.launch_facts import LaunchFacts
from warploom.register_file.layout import Sm
from warploom.register_file.services import allocate, find_free_anywhere, group_of, release


class State(Record):
    """What is counted."""

    releases: i8


@policy
class Oracle(NamedTuple):
    """Perfect dynamic liveness from the trace, free of charge; occupancy is that of static allocation."""

    CHOICE = "allocation"
    NAME = "oracle"
    SOURCE = "a limit, not a mechanism"
    IDEAL = True
    STATE = State

    def map_write(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, index: int) -> int:
        entry = sm.map[warp, register]
        if entry < 0:
            entry = find_free_anywhere(ctx, sm, group_of(ctx, warp, register))
            allocate(ctx, sm, cycle, warp, register, entry)
        return entry

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        last = last_at(ctx, index)
        if last == 0:
            return
        state: State = sm.allocation
        row = ctx.code[pc]
        for operand in range(row.n_reads):
            rewritten = False
            for number in range(row.n_writes):
                rewritten |= row.writes[number] == row.reads[operand]
            if last >> operand & 1 != 0 and not rewritten:
                release(ctx, sm, cycle, warp, row.reads[operand])
                state.releases += 1
        for number in range(row.n_writes):
            if last >> (DEAD_WRITE + number) & 1 != 0:
                release(ctx, sm, cycle, warp, row.writes[number])
                state.releases += 1

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return {"releases": int(states["releases"].sum())}
