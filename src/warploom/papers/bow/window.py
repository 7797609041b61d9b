"""The operand windows of an SM: which registers each warp's collector holds, since which instruction, and which lanes."""

from __future__ import annotations

from typing import Any

from warploom.machines.schema import MAX_WARPS
from warploom.register_file.context import Context
from warploom.register_file.layout import Sm
from warploom.register_file.services import inlined, write_back

MOST_ENTRIES = 28  # four operands of each of seven instructions
WAYS = 32
VALID, DIRTY, TRANSIENT = 1, 2, 4

WINDOW_STATE = (
    ("register", "i2", (MAX_WARPS, WAYS)),
    ("status", "u1", (MAX_WARPS, WAYS)),
    ("used", "i8", (MAX_WARPS, WAYS)),  # place in the trace of the instruction that read or wrote it last
    ("lanes", "u4", (MAX_WARPS, WAYS)),
)


@inlined
def find(policy: Any, sm: Sm, warp: int, register: int) -> int:
    """The way of a warp's window that holds a register; -1: none."""
    found = -1
    for way in range(policy.entries):
        if sm.hierarchy.status[warp, way] & VALID != 0 and sm.hierarchy.register[warp, way] == register:
            found = way
    return found


@inlined
def take(policy: Any, sm: Sm, warp: int, register: int) -> int:
    """An empty way for a register; -1: the window is full. A way whose old value is still being read is not empty yet."""
    for way in range(policy.entries):
        if sm.hierarchy.status[warp, way] & VALID == 0 and sm.place_read[place_of(warp, way)] == 0:
            sm.hierarchy.register[warp, way] = register
            return way
    return -1


@inlined
def place_of(warp: int, way: int) -> int:
    """The place of the upper level that a way of a warp's window is."""
    return warp * WAYS + way


@inlined
def write_down(ctx: Context, sm: Sm, cycle: int, warp: int, way: int) -> None:
    """Empty a way whose value is still needed."""
    state = sm.hierarchy
    if state.status[warp, way] & DIRTY != 0:
        write_back(ctx, sm, cycle, warp, int(state.register[warp, way]), place_of(warp, way), state.lanes[warp, way])
        state.writebacks += 1
    state.status[warp, way] = 0


@inlined
def slide(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, upcoming: int) -> None:
    """Empty what no instruction of the window has used, seen from the upcoming one."""
    state = sm.hierarchy
    for way in range(policy.entries):
        if state.status[warp, way] & VALID != 0 and state.used[warp, way] <= upcoming - policy.window:
            if state.status[warp, way] & TRANSIENT != 0:
                state.status[warp, way] = 0
                state.dropped += 1
            else:
                write_down(ctx, sm, cycle, warp, way)


@inlined
def forget(policy: Any, sm: Sm, warp: int) -> None:
    """Empty all ways of a warp whose values nobody needs."""
    for way in range(policy.entries):
        sm.hierarchy.status[warp, way] = 0
