"""Shared registers in the hardware: which warps wait for them or hold them, and the sections of extended registers they take."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from warploom.base.records import Array, Mask, Record, dtype_of, flag, i1, i2, i8
from warploom.chip.machines.limits import MAX_WARP_REGISTERS, MAX_WARPS
from warploom.chip.sm.bits import bit, has
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import counted
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import allocate, find_free_anywhere, group_of, release, separate
from warploom.compiler.code.instruction import Code
from warploom.papers.regmutex.acquire_regions import ACQUIRE, RELEASE


class Notes(Record):
    """Whether an instruction is one of the two."""

    acquires: flag
    releases: flag


class Counts(Record):
    """What every policy counts that shares registers between warps."""

    acquires: i8 = counted("instructions", "Acquires of shared registers that succeeded.")
    acquires_failed: i8 = counted("instructions", "Acquires that had to wait, each counted once.")
    acquire_wait_cycles: i8 = counted("cycles", "Cycles that warps waited for shared registers, added up over the warps.")
    releases: i8 = counted("instructions", "Releases of shared registers.")
    held_cycles: i8 = counted("cycles", "Cycles that warps held shared registers, added up over the warps.")


class Sharing(Counts):
    """What every such policy keeps in an SM."""

    queued: Mask  # warps that wait for shared registers
    since: Annotated[Array[i8], MAX_WARPS]  # when a warp began to wait or to hold


class Sections(Sharing):
    """What a policy keeps in an SM under which the program acquires and releases sections of extended registers."""

    holds: Mask  # the warp status bits: warps that hold a section
    taken: Mask  # sections that are taken
    occupied: Annotated[Array[i2], MAX_WARPS]  # for each section, its registers that have not been given back
    section_of: Annotated[Array[i1], MAX_WARP_REGISTERS]  # for each entry, 1 + the section that it belongs to; 0: none
    sections: i8


def section_notes(code: Code) -> np.ndarray:
    """Which instructions acquire and release, as the hardware sees them."""
    notes = [(instruction.op == ACQUIRE, instruction.op == RELEASE) for instruction in code.instructions()]
    return np.array(notes, dtype_of(Notes))


# --- waiting and holding ----------------------------------------------------------------------------------------------------


@separate
def wait_for_shared(sm: Sm, cycle: int, warp: int) -> None:
    """A warp cannot have the shared registers that it asks for, now or still."""
    state: Sharing = sm.allocation
    if not has(state.queued, warp):
        state.acquires_failed += 1
        state.queued |= bit(warp)
        state.since[warp] = cycle


@separate
def count_acquire(sm: Sm, cycle: int, warp: int) -> None:
    """A warp has got the shared registers; from now on it holds them."""
    state: Sharing = sm.allocation
    if has(state.queued, warp):
        state.queued &= ~bit(warp)
        state.acquire_wait_cycles += cycle - state.since[warp]
    state.acquires += 1
    state.since[warp] = cycle


# --- a base set and a section -----------------------------------------------------------------------------------------------


# A register lies in the bank that the machine's mapping gives it, as under static allocation: the paper numbers a warp's
# registers without base sets and with them in the same way, and banks are spread over warps in both.


@separate
def give_base_set(ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """Map a warp's base set."""
    for register in range(ctx.info.registers_per_warp):
        allocate(ctx, sm, cycle, warp, register, find_free_anywhere(ctx, sm, group_of(ctx, warp, register)))


@separate
def asks_for_extended(ctx: Context, sm: Sm, warp: int, pc: int) -> bool:
    """Whether an instruction acquires the extended registers for a warp that does not hold them."""
    state: Sections = sm.allocation
    notes: Notes = ctx.code[pc].allocation
    return notes.acquires and not has(state.holds, warp)


@separate
def take_section(ctx: Context, sm: Sm, cycle: int, warp: int, section: int) -> None:
    """Give a warp a free section for its extended registers."""
    state: Sections = sm.allocation
    count_acquire(sm, cycle, warp)
    state.holds |= bit(warp)
    state.taken |= bit(section)
    base = ctx.info.registers_per_warp
    state.occupied[section] = ctx.info.registers - base
    for register in range(base, ctx.info.registers):
        entry = find_free_anywhere(ctx, sm, group_of(ctx, warp, register))
        state.section_of[entry] = section + 1
        allocate(ctx, sm, cycle, warp, register, entry)


@separate
def release_extended(ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """Let a warp give back its extended registers if it holds them."""
    state: Sections = sm.allocation
    if has(state.holds, warp):
        state.holds &= ~bit(warp)
        state.releases += 1
        state.held_cycles += cycle - state.since[warp]
        for register in range(ctx.info.registers_per_warp, ctx.info.registers):
            release(ctx, sm, cycle, warp, register)


@separate
def release_at(ctx: Context, sm: Sm, cycle: int, warp: int, pc: int) -> None:
    """Let a warp give back its extended registers if its instruction at this pc is a release."""
    notes: Notes = ctx.code[pc].allocation
    if notes.releases:
        release_extended(ctx, sm, cycle, warp)


@separate
def section_freed(sm: Sm, entry: int) -> int:
    """An entry has become free: the section that is not taken any more with it, the last of its registers; -1: none."""
    state: Sections = sm.allocation
    section = int(state.section_of[entry]) - 1
    if section < 0:
        return -1
    state.section_of[entry] = 0
    state.occupied[section] -= 1
    if state.occupied[section] > 0:
        return -1
    state.taken &= ~bit(section)
    return section
