"""A CTA that is larger than the file: the registers of a waiting warp go to reserved memory and come back."""

from __future__ import annotations

from warploom.chip.sm.bits import NOTHING, bit, count, has, lowest, without_lowest
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import REGISTER_WORDS, Sm
from warploom.chip.sm.services import (
    OLDEST,
    REFILL,
    SPILL,
    first_by_age,
    free_entry,
    group_of,
    inject,
    inlined,
    separate,
    wake,
)
from warploom.papers.rfv.mapping import rename
from warploom.papers.rfv.renaming import find_entry_anywhere
from warploom.papers.rfv.state import State
from warploom.papers.rfv.throttling import count_unmapped, hungry_warps, leads

MARGIN = 8  # registers that one instruction writes at most: left to the others when a warp comes back from memory


# --- which registers are there ----------------------------------------------------------------------------------------------


@inlined
def clear_memory(sm: Sm, warp: int) -> None:
    """A warp begins with nothing in memory."""
    state: State = sm.allocation
    for word in range(REGISTER_WORDS):
        state.in_memory[warp, word] = NOTHING


@inlined
def take_from_memory(sm: Sm, warp: int, register: int) -> bool:
    """Whether a register is in memory; if so, it counts as taken from there."""
    state: State = sm.allocation
    word, place = register >> 6, register & 63
    stored = has(state.in_memory[warp, word], place)
    if stored:
        state.in_memory[warp, word] &= ~bit(place)
    return stored


@inlined
def _in_memory(sm: Sm, warp: int) -> int:
    state: State = sm.allocation
    stored = 0
    for word in range(REGISTER_WORDS):
        stored += count(state.in_memory[warp, word])
    return stored


# --- whose registers go, and whose come back --------------------------------------------------------------------------------


@separate
def _names_of(ctx: Context, sm: Sm, warp: int) -> int:
    """How many renamed registers of a warp are mapped."""
    state: State = sm.allocation
    mapped = 0
    for register in range(state.exempt, ctx.info.registers):
        if sm.map[warp, register] >= 0:
            mapped += 1
    return mapped


@separate
def _spill_other(ctx: Context, sm: Sm, cycle: int, kept: int) -> bool:
    """Store all registers of one warp other than `kept`: the youngest outside of the leading CTA, else the youngest."""
    state: State = sm.allocation
    victim = -1
    rest = sm.resident & ~state.spilled & ~bit(kept)
    while rest != NOTHING:
        warp = lowest(rest)
        rest = without_lowest(rest)
        if sm.warp[warp].in_flight > 0 or _names_of(ctx, sm, warp) == 0:
            continue
        if victim < 0:
            victim = warp
            continue
        outside, best = not leads(sm, warp), not leads(sm, victim)
        if outside != best:
            if outside:
                victim = warp
        elif sm.warp[warp].age > sm.warp[victim].age:
            victim = warp
    if victim < 0:
        return False
    state.spilled |= bit(victim)
    for register in range(state.exempt, ctx.info.registers):
        entry = sm.map[victim, register]
        if entry >= 0 and inject(sm, SPILL, victim, register, entry):
            state.moving[victim] += 1
            state.spilled_registers += 1
    return state.moving[victim] > 0


@separate
def _waiting_in_memory(sm: Sm) -> int:
    """The oldest warp that wants to go on and has its registers in memory; -1: none. One at a barrier can wait there."""
    state: State = sm.allocation
    stored = NOTHING
    rest = state.spilled & ~state.returning & sm.held
    while rest != NOTHING:
        warp = lowest(rest)
        rest = without_lowest(rest)
        if state.moving[warp] == 0:
            stored |= bit(warp)
    return first_by_age(sm, stored, OLDEST)


@separate
def _refill(ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """Bring a warp's registers back; it goes on when the last of them has arrived."""
    state: State = sm.allocation
    state.returning |= bit(warp)
    for register in range(state.exempt, ctx.info.registers):
        if take_from_memory(sm, warp, register):
            entry = find_entry_anywhere(ctx, sm, group_of(ctx, warp, register))
            rename(ctx, sm, cycle, warp, register, entry)
            inject(sm, REFILL, warp, register, entry)
            state.moving[warp] += 1
    if state.moving[warp] == 0:
        _returned(sm, warp)


@separate
def _returned(sm: Sm, warp: int) -> None:
    state: State = sm.allocation
    state.spilled &= ~bit(warp)
    state.returning &= ~bit(warp)
    wake(sm, bit(warp))


# --- when -------------------------------------------------------------------------------------------------------------------


@separate
def refill_if_room(ctx: Context, sm: Sm, cycle: int) -> None:
    """Bring the registers of a warp back if there is room for them and for one instruction of another."""
    stored = _waiting_in_memory(sm)
    if stored >= 0 and ctx.info.entries - sm.allocated > _in_memory(sm, stored) + MARGIN:
        _refill(ctx, sm, cycle, stored)


@separate
def make_room(ctx: Context, sm: Sm, cycle: int) -> bool:
    """Nothing else moves: spill for a warp that lacks an entry, else bring one back from memory. False: neither can be."""
    urgent = first_by_age(sm, hungry_warps(sm), OLDEST)
    if urgent >= 0:
        return _spill_other(ctx, sm, cycle, urgent)
    stored = _waiting_in_memory(sm)
    if stored < 0:
        return False
    if ctx.info.entries - sm.allocated >= _in_memory(sm, stored):
        _refill(ctx, sm, cycle, stored)
        return True
    return _spill_other(ctx, sm, cycle, stored)


@separate
def moved(ctx: Context, sm: Sm, cycle: int, warp: int, register: int, entry: int, kind: int) -> None:
    """The store (SPILL) or load (REFILL) of a register has finished."""
    state: State = sm.allocation
    state.moving[warp] -= 1
    if kind == SPILL:
        if sm.map[warp, register] == entry:
            sm.map[warp, register] = -1
            state.in_memory[warp, register >> 6] |= bit(register & 63)
            count_unmapped(sm, cycle, warp)
            free_entry(ctx, sm, cycle, entry)
    elif state.moving[warp] == 0:
        _returned(sm, warp)
