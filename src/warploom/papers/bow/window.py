"""The operand windows of an SM: which registers each warp's collector holds, since which instruction, and which lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from warploom.base.records import Array, Lanes, Record, i2, i8, u1
from warploom.chip.machines.limits import MAX_WARPS
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import counted
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import inlined, write_back

if TYPE_CHECKING:
    from warploom.papers.bow.bow import Bow

MOST_ENTRIES = 28  # four operands of each of seven instructions
WAYS = 32
VALID, DIRTY, TRANSIENT = 1, 2, 4


class Windows(Record):
    """What each warp's collector holds."""

    register: Annotated[Array[i2], MAX_WARPS, WAYS]
    status: Annotated[Array[u1], MAX_WARPS, WAYS]
    used: Annotated[Array[i8], MAX_WARPS, WAYS]  # index of the instruction that read or wrote it last
    lanes: Annotated[Array[Lanes], MAX_WARPS, WAYS]
    collecting: Annotated[Array[i2], MAX_WARPS]  # instructions between issue and the units


class Counts(Record):
    """What is counted."""

    hits: i8 = counted("accesses", "Operands that were found in the window.")
    copies: i8 = counted("registers", "Operands that the window took a copy of when they were read.")
    results: i8 = counted("registers", "Results that went to the window.")
    late: i8 = counted("registers", "Results that came after their instruction had left the window, and went to the main file.")
    around: i8 = counted("registers", "Results that went around the window to the main file, for nobody reads them in it.")
    crowded: i8 = counted("registers", "Operands and results that found no room in the window.")
    incomplete: i8 = counted("accesses", "Operands of which the window did not have all lanes.")
    consolidated: i8 = counted("registers", "Results that were overwritten in the window before they were written back.")
    dropped: i8 = counted("registers", "Results that left the window without being written back, for they are dead.")
    writebacks: i8 = counted("registers", "Results that were written back from the window to the main file.")


class State(Windows, Counts):
    """What the policy keeps in every SM."""


@inlined
def find(policy: Bow, sm: Sm, warp: int, register: int) -> int:
    """The way of a warp's window that holds a register; -1: none."""
    state: State = sm.hierarchy
    found = -1
    for way in range(policy.entries):
        if state.status[warp, way] & VALID != 0 and state.register[warp, way] == register:
            found = way
    return found


@inlined
def take(policy: Bow, sm: Sm, warp: int, register: int) -> int:
    """An empty way for a register; -1: the window is full. A way whose old value is still being read is not empty yet."""
    state: State = sm.hierarchy
    for way in range(policy.entries):
        if state.status[warp, way] & VALID == 0 and sm.place_read[place_of(warp, way)] == 0:
            state.register[warp, way] = register
            return way
    return -1


@inlined
def place_of(warp: int, way: int) -> int:
    """The place of the upper level that a way of a warp's window is."""
    return warp * WAYS + way


@inlined
def write_down(ctx: Context, sm: Sm, cycle: int, warp: int, way: int) -> None:
    """Empty a way whose value is still needed."""
    state: State = sm.hierarchy
    if state.status[warp, way] & DIRTY != 0:
        write_back(ctx, sm, cycle, warp, int(state.register[warp, way]), place_of(warp, way), state.lanes[warp, way])
        state.writebacks += 1
    state.status[warp, way] = 0


@inlined
def slide(policy: Bow, ctx: Context, sm: Sm, cycle: int, warp: int, upcoming: int) -> None:
    """Empty what no instruction of the window has used, seen from the upcoming one."""
    state: State = sm.hierarchy
    for way in range(policy.entries):
        if state.status[warp, way] & VALID != 0 and state.used[warp, way] <= upcoming - policy.window:
            if state.status[warp, way] & TRANSIENT != 0:
                state.status[warp, way] = 0
                state.dropped += 1
            else:
                write_down(ctx, sm, cycle, warp, way)


@inlined
def forget(policy: Bow, sm: Sm, warp: int) -> None:
    """Empty all ways of a warp whose values nobody needs."""
    state: State = sm.hierarchy
    for way in range(policy.entries):
        state.status[warp, way] = 0
