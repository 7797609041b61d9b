"""Two warps share one extended set between them; no table, no pool."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.code.instruction import Code
from warploom.machines import Machine
from warploom.machines.schema import MAX_WARP_REGISTERS, MAX_WARPS
from warploom.papers.regmutex.base_set import base_registers
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
from warploom.register_file.bits import NOTHING, bit, has
from warploom.register_file.context import Context
from warploom.register_file.layout import Sm
from warploom.register_file.services import allocate, find_free_anywhere, group_of, wake


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
    LIMITS = {"extended": (0, 64)}
    MEANING = {
        "extended": "registers of the extended set; 0 lets the compiler choose",
        "weighed": "the compiler refuses sizes with which warps would wait for each other too long, which the paper does not",
    }
    COMPILED_BY = ("extended", "weighed")
    NOTES = SECTION_NOTES
    STATE = (
        ("taken", "u8"),  # a bit for each pair of warps whose extended set is taken
        (
            "holds",
            "u8",
        ),  # which warps took it; hardware can do without, for the other warp of the pair waits or asks for nothing
        ("occupied", "i2", (MAX_WARPS,)),  # for each pair, extended registers that have not been given back
        ("pair_of", "i1", (MAX_WARP_REGISTERS,)),  # for each entry, 1 + the pair that it belongs to; 0: none
        ("sections", "i8"),
        *WAITING_STATE,
    )

    extended: int = AUTO
    weighed: bool = False

    # The compile-time half.

    def compile(policy, code: Code, machine: Machine) -> Code:
        return shared_code(code, machine, policy.extended, policy.weighed, _pair_limit, _pairs)

    def annotate(policy, code: Code, table: Any, machine: Machine) -> Any:
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
        if ctx.info.registers > ctx.info.registers_per_warp:
            sm.allocation.sections = (ctx.info.warps_per_cta * ctx.info.cta_limit + 1) // 2

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        base = ctx.info.registers_per_warp
        extended = ctx.info.registers - base
        mapped = extended > 0 and ctx.machine.sub_cores == 1
        for register in range(base):
            entry = register + (warp // 2) * (2 * base + extended) + (warp % 2) * base
            if not mapped:
                entry = find_free_anywhere(ctx, sm, group_of(ctx, warp, register))
            allocate(ctx, sm, cycle, warp, register, entry)

    def may_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
        state = sm.allocation
        if not asks_for_extended(ctx, sm, warp, pc):
            return True
        pair = warp // 2
        if has(state.taken, pair):
            wait_for_shared(sm, cycle, warp)
            return False
        count_acquire(sm, cycle, warp)
        state.holds |= bit(warp)
        state.taken |= bit(pair)
        base = ctx.info.registers_per_warp
        extended = ctx.info.registers - base
        state.occupied[pair] = extended
        for register in range(base, ctx.info.registers):
            entry = register + pair * (2 * base + extended) + base
            if ctx.machine.sub_cores > 1:
                entry = find_free_anywhere(ctx, sm, group_of(ctx, warp, register))
            state.pair_of[entry] = pair + 1
            allocate(ctx, sm, cycle, warp, register, entry)
        return True

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        release_at(ctx, sm, cycle, warp, pc)

    def on_warp_exit(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        release_extended(ctx, sm, cycle, warp)

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state = sm.allocation
        pair = int(state.pair_of[entry]) - 1
        if pair >= 0:
            state.pair_of[entry] = 0
            state.occupied[pair] -= 1
            if state.occupied[pair] == 0:
                state.taken &= ~bit(pair)
                if state.queued != NOTHING:
                    wake(sm, state.queued & (bit(2 * pair) | bit(2 * pair + 1)))

    # What is reported.

    def counters(policy, states: Any, run: Any) -> dict[str, Any]:
        return section_counters(states, run)

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return shared_summary(counters)

    def storage_bits(policy, machine: Machine) -> int:
        return machine.sm.warps_per_sm // 2
