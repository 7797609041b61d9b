"""Two registers in one entry: those that the compiler has proved to need half of their bits."""

from __future__ import annotations

from typing import NamedTuple

from warploom.chip.machines import Machine
from warploom.chip.sm import Policies, policy
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.occupancy import rounded
from warploom.chip.sm.services import allocate, allocate_bytes, find_free_anywhere, group_of
from warploom.compiler.code.instruction import Code
from warploom.designs.policies.allocation.narrow_values import entries_of, packed_code

LOW_HALF, HIGH_HALF = 0b0011, 0b1100


@policy
class Packed(NamedTuple):
    """Static allocation in which two values of at most 16 bits share an entry, so that more warps fit.

    The bounds are the compiler's (`warploom.compiler.code.widths`); nothing is unpacked at run time but by the wires that
    choose a half.
    """

    CHOICE = "allocation"
    NAME = "packed"
    SOURCE = "the storage half of what CORF (ASPLOS 2019) does; it belongs to no paper here"

    def compile(policy, code: Code, machine: Machine) -> Code:
        return packed_code(code, machine)

    def registers_per_warp(policy, code: Code, machine: Machine) -> int:
        return rounded(entries_of(code), machine)

    def conflict(policy, design: Policies) -> str | None:
        if type(design.hierarchy).NAME != "none":
            return "an upper level follows what leaves it by the entry, which two registers may share; write hierarchy=none"
        if type(design.encoding).NAME != "none":
            return "an encoding keeps one form for an entry, which two registers may share; write encoding=none"
        return None

    def freed_with_cta(policy) -> bool:
        return True

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        entries, names = ctx.info.registers_per_warp, ctx.info.registers
        alone = entries if names <= entries else 2 * entries - names
        for register in range(entries):
            entry = find_free_anywhere(ctx, sm, group_of(ctx, warp, register))
            if register < alone:
                allocate(ctx, sm, cycle, warp, register, entry)
            else:
                allocate_bytes(ctx, sm, cycle, warp, register, entry, LOW_HALF)
                allocate_bytes(ctx, sm, cycle, warp, entries + register - alone, entry, HIGH_HALF)
