"""Two warps share one extended set between them; no table, no pool."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warploom.chip.machines import Machine
from warploom.chip.sm import policy
from warploom.chip.sm.bits import bit, has
from warploom.chip.sm.context import Context
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import wake
from warploom.compiler.code.instruction import Code
from warploom.papers.regmutex.base_set import base_registers
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


def _pair_limit(code: Code, machine: Machine, warps_per_cta: int) -> int:
    """The CTAs for which registers suffice with 2 |Bs| + |Es| a pair; a last warp without a partner has its own extended set."""
    base = base_registers(code)
    extended = code.registers - base
    ctas = 0
    while base * (ctas + 1) * warps_per_cta + extended * -(-(ctas + 1) * warps_per_cta // 2) <= machine.warp_registers:
        ctas += 1
    return ctas


def _pairs(code: Code, machine: Machine, warps: int) -> int:
    return -(-warps // 2)


@policy
class RegMutexPaired(NamedTuple):
    """A base set for every warp; the registers above it belong to a pair of warps, and one of the two has them at a time."""

    CHOICE = "allocation"
    NAME = "regmutex-paired"
    SOURCE = "regmutex, section III-C"
    LIMITS = EXTENDED_LIMITS
    MEANING = EXTENDED_MEANING
    COMPILED_BY = ("extended", "weighed")
    NOTES = Notes
    COUNTERS = SHARING_COUNTERS

    # A section belongs to a pair. Hardware can do without `holds`, for the other warp of a pair waits or asks for nothing.
    STATE = Sections

    extended: int = AUTO
    weighed: bool = False

    # The compile-time half.

    def compile(policy, code: Code, machine: Machine) -> Code:
        return shared_code(code, machine, policy.extended, policy.weighed, _pair_limit, _pairs)

    def annotate(policy, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
        return section_notes(code)

    def registers_per_warp(policy, code: Code, machine: Machine) -> int:
        return base_set(code, machine)

    def resident_limit(policy, code: Code, machine: Machine, warps_per_cta: int) -> int:
        if not base_registers(code):
            return whole_limit(code, machine, warps_per_cta)
        return _pair_limit(code, machine, warps_per_cta)

    def describe(policy, code: Code) -> dict[int, str]:
        return described(code)

    # The hardware half.

    def freed_with_cta(policy) -> bool:
        return True  # the base set; the extended one is given back at the warp's exit

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: Sections = sm.allocation
        if ctx.info.registers > ctx.info.registers_per_warp:
            state.sections = (ctx.info.warps_per_cta * ctx.info.cta_limit + 1) // 2

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        give_base_set(ctx, sm, cycle, warp)

    def may_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
        state: Sections = sm.allocation
        if not asks_for_extended(ctx, sm, warp, pc):
            return True
        pair = warp // 2
        if has(state.taken, pair):
            wait_for_shared(sm, cycle, warp)
            return False
        take_section(ctx, sm, cycle, warp, pair)
        return True

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        release_at(ctx, sm, cycle, warp, pc)

    def on_warp_exit(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        release_extended(ctx, sm, cycle, warp)

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: Sections = sm.allocation
        pair = section_freed(sm, entry)
        if pair >= 0:
            wake(sm, state.queued & (bit(2 * pair) | bit(2 * pair + 1)))

    # What is reported.

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return section_counters(states, run)

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return shared_summary(counters)

    def storage_bits(policy, machine: Machine) -> int:
        return machine.sm.warps_per_sm // 2
