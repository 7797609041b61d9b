"""Registers beyond a base set are acquired from a pool that all warps of the SM share, and released."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warploom.chip.machines import Machine
from warploom.chip.sm import policy
from warploom.chip.sm.bits import NOTHING, below, lowest
from warploom.chip.sm.context import Context
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import wake
from warploom.compiler.code.instruction import Code
from warploom.papers.regmutex.base_set import base_registers
from warploom.papers.regmutex.extended_size import pool_sections
from warploom.papers.regmutex.register_sharing import (
    AUTO,
    EXTENDED_LIMITS,
    EXTENDED_MEANING,
    SHARING_COUNTERS,
    base_set,
    described,
    section_counters,
    shared_code,
    shared_summary,
    whole_limit,
)
from warploom.papers.regmutex.sections import (
    Notes,
    Sections,
    asks_for_extended,
    give_base_set,
    release_at,
    release_extended,
    section_freed,
    section_notes,
    take_section,
    wait_for_shared,
)


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
    LIMITS = EXTENDED_LIMITS
    MEANING = EXTENDED_MEANING
    COMPILED_BY = ("extended", "weighed")
    NOTES = Notes
    STATE = Sections

    extended: int = AUTO
    weighed: bool = False

    COUNTERS = SHARING_COUNTERS

    # The compile-time half.

    def compile(policy, code: Code, machine: Machine) -> Code:
        return shared_code(code, machine, policy.extended, policy.weighed, _base_limit, _sections)

    def annotate(policy, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
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
        state: Sections = sm.allocation
        extended = ctx.info.registers - ctx.info.registers_per_warp
        sections = 0
        if extended > 0:
            pool = ctx.info.entries - ctx.info.registers_per_warp * ctx.info.warps_per_cta * ctx.info.cta_limit
            sections = min(pool // extended, ctx.machine.sm.warps_per_sm)
        state.sections = sections
        # The bits beyond the last section are always set, so that none of them is found free.
        state.taken = ~below(sections) if sections < 64 else NOTHING

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        give_base_set(ctx, sm, cycle, warp)

    def may_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
        state: Sections = sm.allocation
        if not asks_for_extended(ctx, sm, warp, pc):
            return True
        section = lowest(~state.taken)
        if section >= 64:
            wait_for_shared(sm, cycle, warp)
            return False
        take_section(ctx, sm, cycle, warp, section)
        return True

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        release_at(ctx, sm, cycle, warp, pc)

    def on_warp_exit(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        release_extended(ctx, sm, cycle, warp)

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: Sections = sm.allocation
        if section_freed(sm, entry) >= 0:
            wake(sm, state.queued)

    # What is reported.

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return section_counters(states, run)

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return shared_summary(counters)

    def storage_bits(policy, machine: Machine) -> int:
        warps = machine.sm.warps_per_sm
        return warps + warps + warps * (warps - 1).bit_length()
