"""The register cache: the part of it that each active warp owns, what is in it, and what is on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from warploom.base.records import Array, Mask, Record, i2, i8, u1
from warploom.chip.machines.limits import MAX_WARPS
from warploom.chip.sm.bits import NOTHING, has, lowest, without_lowest
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import counted
from warploom.chip.sm.layout import REGISTER_WORDS, Sm
from warploom.chip.sm.services import bring_up, inlined, separate, write_back
from warploom.compiler.code.lanes import FULL

if TYPE_CHECKING:
    from warploom.papers.ltrf.ltrf import Ltrf

MOST_ENTRIES = WAYS = 32
VALID, DIRTY, COMING = 1, 2, 4


class Parts(Record):
    """What each warp's part holds, and what it should."""

    register: Annotated[Array[i2], MAX_WARPS, WAYS]
    status: Annotated[Array[u1], MAX_WARPS, WAYS]
    wanted: Annotated[Array[Mask], MAX_WARPS, REGISTER_WORDS]  # the working set of each warp's interval
    missing: Annotated[Array[i2], MAX_WARPS]  # registers that are coming up
    everything: Annotated[Array[Mask], REGISTER_WORDS]  # the set of all registers


class Counts(Record):
    """What is counted."""

    hits: i8 = counted("accesses", "Operands that were found in the warp's part of the register cache.")
    misses: i8 = counted("accesses", "Operands that were not, and were read from the main file.")
    results: i8 = counted("registers", "Results that went to the register cache.")
    below: i8 = counted("registers", "Results that went to the main file.")
    intervals: i8 = counted("intervals", "Intervals of registers that warps entered.")
    fetched: i8 = counted("registers", "Registers that were prefetched from the main file to the register cache.")
    written_down: i8 = counted("registers", "Registers that were written from the register cache to the main file.")
    dead: i8 = counted("registers", "Values that left the register cache without being written down, for nobody reads them.")
    waits: i8 = counted("warps", "Times that a warp waited for its prefetched registers.")
    waited: i8 = counted("cycles", "Cycles that warps waited for their prefetched registers, added up over the warps.")


class State(Parts, Counts):
    """What the policy keeps in every SM."""

    waiting_since: Annotated[Array[i8], MAX_WARPS]


@inlined
def place_of(warp: int, way: int) -> int:
    """The place of the upper level that a way of a warp's part is."""
    return warp * WAYS + way


@inlined
def is_in(registers: Array[Mask], register: int) -> bool:
    """Whether a set of registers has one."""
    return has(registers[register >> 6], register & 63)


@inlined
def wants(sm: Sm, warp: int, register: int) -> bool:
    """Whether the working set of a warp's interval has a register."""
    state: State = sm.hierarchy
    return has(state.wanted[warp, register >> 6], register & 63)


@inlined
def find(policy: Ltrf, sm: Sm, warp: int, register: int) -> int:
    """The way of a warp's part that holds a register or waits for it; -1: none."""
    state: State = sm.hierarchy
    found = -1
    for way in range(policy.entries):
        if state.status[warp, way] != 0 and state.register[warp, way] == register:
            found = way
    return found


@inlined
def take(policy: Ltrf, sm: Sm, warp: int, register: int) -> int:
    """An empty way for a register; -1: there is none."""
    state: State = sm.hierarchy
    for way in range(policy.entries):
        if state.status[warp, way] == 0:
            state.register[warp, way] = register
            return way
    return -1


@inlined
def empty(policy: Ltrf, ctx: Context, sm: Sm, cycle: int, warp: int, way: int, live: Array[Mask]) -> None:
    """Empty a way, and write its value down if the main file has an old one and somebody will read it."""
    state: State = sm.hierarchy
    register = int(state.register[warp, way])
    if state.status[warp, way] & DIRTY != 0:
        if not policy.liveness or is_in(live, register):
            write_back(ctx, sm, cycle, warp, register, place_of(warp, way), FULL)
            state.written_down += 1
        else:
            state.dead += 1
    state.status[warp, way] = 0


@inlined
def can_fetch(policy: Ltrf, sm: Sm, warp: int, register: int, live: Array[Mask]) -> bool:
    """Whether a register is worth bringing up, is not here, and waits for no result."""
    needed = not policy.liveness or is_in(live, register)
    return needed and find(policy, sm, warp, register) < 0 and not is_in(sm.warp[warp].pending, register)


@separate
def fetch(policy: Ltrf, ctx: Context, sm: Sm, cycle: int, warp: int, register: int) -> None:
    """Bring a register up, if there is a way for it; else it is read below."""
    state: State = sm.hierarchy
    way = take(policy, sm, warp, register)
    if way >= 0 and bring_up(ctx, sm, cycle, warp, register, place_of(warp, way)):
        state.status[warp, way] = COMING
        state.missing[warp] += 1
        state.fetched += 1


@separate
def fetch_missing(policy: Ltrf, ctx: Context, sm: Sm, cycle: int, warp: int, live: Array[Mask]) -> None:
    """Bring up what the warp's interval names and the cache has not. What waits for a result follows when that is there."""
    state: State = sm.hierarchy
    for word in range(REGISTER_WORDS):
        left = state.wanted[warp, word]
        while left != NOTHING:
            register = word * 64 + lowest(left)
            left = without_lowest(left)
            if can_fetch(policy, sm, warp, register, live):
                fetch(policy, ctx, sm, cycle, warp, register)
