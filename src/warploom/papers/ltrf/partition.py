"""The register cache: the part of it that each active warp owns, what is in it, and what is on its way."""

from __future__ import annotations

from typing import Any

from warploom.code.lanes import FULL
from warploom.machines.schema import MAX_WARPS
from warploom.register_file.bits import NOTHING, has, lowest, without_lowest
from warploom.register_file.context import Context
from warploom.register_file.layout import REGISTER_WORDS, Sm
from warploom.register_file.services import bring_up, inlined, separate, write_back

MOST_ENTRIES = WAYS = 32
VALID, DIRTY, COMING = 1, 2, 4

PARTITION_STATE = (
    ("register", "i2", (MAX_WARPS, WAYS)),
    ("status", "u1", (MAX_WARPS, WAYS)),
    ("wanted", "u8", (MAX_WARPS, REGISTER_WORDS)),  # the working set of each warp's interval
    ("missing", "i2", (MAX_WARPS,)),  # registers that are coming up
    ("everything", "u8", (REGISTER_WORDS,)),  # the set of all registers
)


@inlined
def place_of(warp: int, way: int) -> int:
    """The place of the upper level that a way of a warp's part is."""
    return warp * WAYS + way


@inlined
def is_in(registers: Any, register: int) -> bool:
    """Whether a set of registers has one."""
    return has(registers[register >> 6], register & 63)


@inlined
def find(policy: Any, sm: Sm, warp: int, register: int) -> int:
    """The way of a warp's part that holds a register or waits for it; -1: none."""
    found = -1
    for way in range(policy.entries):
        if sm.hierarchy.status[warp, way] != 0 and sm.hierarchy.register[warp, way] == register:
            found = way
    return found


@inlined
def take(policy: Any, sm: Sm, warp: int, register: int) -> int:
    """An empty way for a register; -1: there is none."""
    for way in range(policy.entries):
        if sm.hierarchy.status[warp, way] == 0:
            sm.hierarchy.register[warp, way] = register
            return way
    return -1


@inlined
def empty(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, way: int, live: Any) -> None:
    """Empty a way, and write its value down if the main file has an old one and somebody will read it."""
    state, register = sm.hierarchy, int(sm.hierarchy.register[warp, way])
    if state.status[warp, way] & DIRTY != 0:
        if not policy.liveness or is_in(live, register):
            write_back(ctx, sm, cycle, warp, register, place_of(warp, way), FULL)
            state.written_down += 1
        else:
            state.dead += 1
    state.status[warp, way] = 0


@inlined
def can_fetch(policy: Any, sm: Sm, warp: int, register: int, live: Any) -> bool:
    """Whether a register is worth bringing up, is not here, and waits for no result."""
    needed = not policy.liveness or is_in(live, register)
    return needed and find(policy, sm, warp, register) < 0 and not is_in(sm.warp[warp].pending, register)


@separate
def fetch(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, register: int) -> None:
    """Bring a register up, if there is a way for it; else it is read below."""
    way = take(policy, sm, warp, register)
    if way >= 0 and bring_up(ctx, sm, cycle, warp, register, place_of(warp, way)):
        sm.hierarchy.status[warp, way] = COMING
        sm.hierarchy.missing[warp] += 1
        sm.hierarchy.fetched += 1


@separate
def fetch_missing(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, live: Any) -> None:
    """Bring up what the warp's interval names and the cache has not. What waits for a result follows when that is there."""
    for word in range(REGISTER_WORDS):
        left = sm.hierarchy.wanted[warp, word]
        while left != NOTHING:
            register = word * 64 + lowest(left)
            left = without_lowest(left)
            if can_fetch(policy, sm, warp, register, live):
                fetch(policy, ctx, sm, cycle, warp, register)
