"""Registers beyond a base set are acquired from a pool that all warps of the SM share, and released."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.code.instruction import Code
from warploom.machines import Machine
from warploom.machines.schema import MAX_WARP_REGISTERS, MAX_WARPS
from warploom.papers.regmutex.base_set import base_registers
from warploom.papers.regmutex.extended_size import pool_sections
from warploom.papers.regmutex.register_sharing import (
    AUTO,
    SECTION_NOTES,
    WAITING_STATE,
    asks_for_extended,
    base_set,
    count_acquire,
    described,
    release_at,
    release_extended,
    section_counters,
    section_notes,
    shared_code,
    shared_summary,
    wait_for_shared,
    whole_limit,
)
from warploom.register_file import policy
from warploom.register_file.bits import NOTHING, below, bit, lowest
from warploom.register_file.context import Context
from warploom.register_file.layout import Sm
from warploom.register_file.services import allocate, find_free_anywhere, group_of, wake


def _base_limit(code: Code, machine: Machine, warps_per_cta: int) -> int:
    """The CTAs for which registers suffice when the base sets alone are counted, as the choice of sizes does."""
    return machine.warp_registers // (base_registers(code) * warps_per_cta)


def _sections(code: Code, machine: Machine, warps: int) -> int:
    base = base_registers(code)
    return pool_sections(machine.warp_registers, base, code.registers - base, warps, machine.sm.warps_per_sm)


@policy
class RegMutex(NamedTuple):
    """A base set for every warp; the registers above it come from a shared pool, acquired and released by the program."""

    CHOICE = "allocation"
    NAME = "regmutex"
    SOURCE = "regmutex, section III"
    LIMITS = {"extended": (0, 64)}
    MEANING = {
        "extended": "registers of the extended set; 0 lets the compiler choose",
        "weighed": "the compiler refuses sizes with which warps would wait for each other too long, which the paper does not",
    }
    COMPILED_BY = ("extended", "weighed")
    NOTES = SECTION_NOTES
    STATE = (
        ("holds", "u8"),  # the warp status bits: warps that hold a section
        (
            "taken",
            "u8",
        ),  # sections that are taken; the bits beyond the last section are always set, so that none of them is found free
        ("section", "i1", (MAX_WARPS,)),  # the look-up table: for each warp that holds a section, which
        ("occupied", "i2", (MAX_WARPS,)),  # for each section, its registers that have not been given back
        ("section_of", "i1", (MAX_WARP_REGISTERS,)),  # for each entry, 1 + the section that it belongs to; 0: none
        ("sections", "i8"),
        *WAITING_STATE,
    )

    extended: int = AUTO
    weighed: bool = False

    # The compile-time half.

    def compile(policy, code: Code, machine: Machine) -> Code:
        return shared_code(code, machine, policy.extended, policy.weighed, _base_limit, _sections)

    def annotate(policy, code: Code, table: Any, machine: Machine) -> Any:
        return section_notes(code)

    def registers_per_warp(policy, code: Code, machine: Machine) -> int:
        return base_set(code, machine)

    def resident_limit(policy, code: Code, machine: Machine, warps_per_cta: int) -> int:
        base = base_registers(code)
        if not base:
            return whole_limit(code, machine, warps_per_cta)
        extended = code.registers - base  # of one section at least
        return (machine.warp_registers - extended) // (base * warps_per_cta)

    def describe(policy, code: Code) -> dict[int, str]:
        return described(code)

    # The hardware half.

    def freed_with_cta(policy) -> bool:
        return True  # the base set; the extended one is given back at the warp's exit

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        extended = ctx.info.registers - ctx.info.registers_per_warp
        sections = 0
        if extended > 0:
            pool = ctx.info.entries - ctx.info.registers_per_warp * ctx.info.warps_per_cta * ctx.info.cta_limit
            sections = min(pool // extended, ctx.machine.warps_per_sm)
        sm.allocation.sections = sections
        sm.allocation.taken = ~below(sections) if sections < 64 else NOTHING

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        base = ctx.info.registers_per_warp
        shared = ctx.info.registers > base and ctx.machine.sub_cores == 1
        for register in range(base):
            entry = register + base * warp
            if not shared:
                entry = find_free_anywhere(ctx, sm, group_of(ctx, warp, register))
            allocate(ctx, sm, cycle, warp, register, entry)

    def may_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
        state = sm.allocation
        if not asks_for_extended(ctx, sm, warp, pc):
            return True
        section = lowest(~state.taken)
        if section >= 64:
            wait_for_shared(sm, cycle, warp)
            return False
        count_acquire(sm, cycle, warp)
        state.holds |= bit(warp)
        state.taken |= bit(section)
        state.section[warp] = section
        base = ctx.info.registers_per_warp
        extended = ctx.info.registers - base
        offset = base * ctx.info.warps_per_cta * ctx.info.cta_limit
        state.occupied[section] = extended
        for register in range(base, ctx.info.registers):
            entry = offset + extended * section + register - base
            if ctx.machine.sub_cores > 1:
                entry = find_free_anywhere(ctx, sm, group_of(ctx, warp, register))
            state.section_of[entry] = section + 1
            allocate(ctx, sm, cycle, warp, register, entry)
        return True

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        release_at(ctx, sm, cycle, warp, pc)

    def on_warp_exit(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        release_extended(ctx, sm, cycle, warp)

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state = sm.allocation
        section = int(state.section_of[entry]) - 1
        if section >= 0:
            state.section_of[entry] = 0
            state.occupied[section] -= 1
            if state.occupied[section] == 0:
                state.taken &= ~bit(section)
                wake(sm, state.queued)

    # What is reported.

    def counters(policy, states: Any, run: Any) -> dict[str, Any]:
        return section_counters(states, run)

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return shared_summary(counters)

    def storage_bits(policy, machine: Machine) -> int:
        warps = machine.sm.warps_per_sm
        return warps + warps + warps * (warps - 1).bit_length()
