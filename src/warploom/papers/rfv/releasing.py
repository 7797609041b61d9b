"""Registers are given back where the flags of an instruction or a list at the start of a block say that they are dead."""

from __future__ import annotations

import numpy as np

from warploom.base.records import u8
from warploom.chip.sm.bits import signed
from warploom.chip.sm.context import CodeRow, Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import inlined, release, separate
from warploom.papers.rfv.notes import Notes
from warploom.papers.rfv.release_flags import LOW_OPCODE_BITS, NO_REGISTER, NUMBER_BITS, NUMBERS, PAYLOAD_BITS
from warploom.papers.rfv.release_flags import ReleaseOpcode as Release
from warploom.papers.rfv.reserved_memory import take_from_memory
from warploom.papers.rfv.state import State
from warploom.papers.rfv.throttling import count_unmapped

PBR = np.uint64(Release.PBR >> LOW_OPCODE_BITS)  # the upper part of its opcode
OPCODE_AT = np.uint64(LOW_OPCODE_BITS + PAYLOAD_BITS)
NUMBER_MASK = np.uint64(NO_REGISTER)


@inlined
def is_list(bits: u8) -> bool:
    """Whether a metadata instruction is a pbr, a list of registers; else it is a pir, flags of the instructions behind it."""
    return bits >> OPCODE_AT == PBR


@separate
def _give_back(ctx: Context, sm: Sm, cycle: int, warp: int, register: int) -> bool:
    """Release a register that is dead; False if there is nothing to release."""
    state: State = sm.allocation
    if take_from_memory(sm, warp, register):
        return True
    if sm.map[warp, register] < 0 or register < state.exempt:
        return False
    release(ctx, sm, cycle, warp, register)
    count_unmapped(sm, cycle, warp)
    return True


@separate
def release_flagged(ctx: Context, sm: Sm, cycle: int, warp: int, row: CodeRow) -> None:
    """Release the operands of an instruction whose flags are set."""
    state: State = sm.allocation
    notes: Notes = row.allocation
    dead = notes.dead
    if dead != 0:
        for operand in range(row.n_reads):
            if dead >> operand & 1 != 0 and _give_back(ctx, sm, cycle, warp, int(row.reads[operand])):
                state.releases_pir += 1
                state.table_accesses += 1


@separate
def release_listed(ctx: Context, sm: Sm, cycle: int, warp: int, bits: u8) -> None:
    """Release the registers that a pbr lists."""
    state: State = sm.allocation
    for place in range(NUMBERS):
        number = (bits >> np.uint64(LOW_OPCODE_BITS + NUMBER_BITS * place)) & NUMBER_MASK
        if number != NUMBER_MASK:
            state.table_accesses += 1
            if _give_back(ctx, sm, cycle, warp, signed(number)):
                state.releases_pbr += 1


@separate
def release_rest(ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """Release what a warp still has at its exit."""
    state: State = sm.allocation
    for register in range(state.exempt, ctx.info.registers):
        if _give_back(ctx, sm, cycle, warp, register):
            state.releases_exit += 1
