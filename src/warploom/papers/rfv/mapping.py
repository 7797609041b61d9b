"""Which entry a register is mapped to: some directly, for as long as their CTA is resident, all others when they are written."""

from __future__ import annotations

from warploom.chip.sm.bits import bit, count
from warploom.chip.sm.context import CodeRow, Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import allocate, find_free_anywhere, group_of, inlined, separate
from warploom.papers.rfv.notes import Notes
from warploom.papers.rfv.renaming import find_entry, find_entry_anywhere
from warploom.papers.rfv.state import State
from warploom.papers.rfv.throttling import count_mapped, leads

# --- entries set apart for registers that are not renamed -------------------------------------------------------------------


@separate
def set_apart(ctx: Context, sm: Sm) -> None:
    """Divide the file between registers that are mapped directly and those that are renamed."""
    state: State = sm.allocation
    notes: Notes = ctx.code[0].allocation
    info = ctx.info
    state.exempt = min(notes.exempt, info.registers)
    state.need = min(info.registers - state.exempt, notes.held) * info.warps_per_cta
    state.most_ctas = info.cta_limit
    direct = state.exempt * info.warps_per_cta
    if renames_nothing(ctx, sm):
        state.most_ctas = max(1, min(state.most_ctas, info.entries // direct))
        state.room = info.entries
        state.scarce = False
        return
    if direct > 0:  # leave one CTA the registers that it may need
        state.most_ctas = min(state.most_ctas, max(1, (info.entries - state.need) // direct))
    reserved = min(direct * state.most_ctas, info.entries)
    state.room = info.entries - reserved
    state.scarce = state.room < state.need * state.most_ctas
    for entry in range(reserved):
        keep_apart(ctx, sm, entry)


@inlined
def renames_nothing(ctx: Context, sm: Sm) -> bool:
    """Whether every register is exempt, so that allocation is static."""
    state: State = sm.allocation
    return state.exempt >= ctx.info.registers


@inlined
def is_set_apart(ctx: Context, sm: Sm, entry: int) -> bool:
    """Whether an entry is for a register that is mapped directly."""
    state: State = sm.allocation
    return entry < ctx.info.entries - state.room


@inlined
def keep_apart(ctx: Context, sm: Sm, entry: int) -> None:
    """Let no search find a free entry."""
    row = entry // ctx.info.groups
    sm.free_rows[entry % ctx.info.groups, row >> 6] &= ~bit(row & 63)


@inlined
def map_directly(ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """Give a warp the registers that are not renamed."""
    state: State = sm.allocation
    exempt = state.exempt
    static = renames_nothing(ctx, sm)
    for register in range(exempt):
        entry = find_free_anywhere(ctx, sm, group_of(ctx, warp, register)) if static else exempt * warp + register
        allocate(ctx, sm, cycle, warp, register, entry)


# --- renaming ---------------------------------------------------------------------------------------------------------------


@inlined
def unmapped_results(sm: Sm, warp: int, row: CodeRow) -> int:
    """How many registers an instruction would map."""
    needed = 0
    for number in range(row.n_writes):
        if sm.map[warp, row.writes[number]] < 0:
            needed += 1
    return needed


@separate
def entries_for(ctx: Context, sm: Sm, warp: int, row: CodeRow) -> bool:
    """Whether there is an entry for every register that an instruction would map; notes the banks that lack one."""
    state: State = sm.allocation
    anywhere = leads(sm, warp)
    free = 0
    for group in range(ctx.info.groups):
        state.free_in[group] = 0
        for word in range(ctx.info.row_words):
            state.free_in[group] += count(sm.free_rows[group, word])
        free += state.free_in[group]
    enough = True
    for number in range(row.n_writes):
        register = int(row.writes[number])
        if sm.map[warp, register] >= 0:
            continue
        group = group_of(ctx, warp, register)
        free -= 1
        state.free_in[group] -= 1
        if free < 0 or (state.free_in[group] < 0 and not anywhere):
            enough = False
            state.wanting[group] |= bit(warp)
    return enough


@separate
def find_for(ctx: Context, sm: Sm, warp: int, register: int) -> int:
    """An entry in the bank that the compiler meant; the leading CTA takes one elsewhere rather than wait."""
    state: State = sm.allocation
    group = group_of(ctx, warp, register)
    entry = find_entry(ctx, sm, group)
    if entry < 0 and leads(sm, warp):
        entry = find_entry_anywhere(ctx, sm, group)
        state.borrowed += 1
    return entry


@separate
def rename(ctx: Context, sm: Sm, cycle: int, warp: int, register: int, entry: int) -> None:
    """Map a register, and account for it."""
    allocate(ctx, sm, cycle, warp, register, entry)
    count_mapped(sm, cycle, warp)
