"""Registers above a threshold are shared by two warps: whoever takes them first keeps them to its exit."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Mask, Record, dtype_of, flag, i8
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_CTAS
from warploom.chip.sm import policy
from warploom.chip.sm.bits import NOTHING, bit, has
from warploom.chip.sm.context import Context
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.occupancy import rounded
from warploom.chip.sm.services import allocate, find_free_anywhere, group_of, release, wake
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.table import static_table
from warploom.papers.regmutex.register_sharing import SHARING_COUNTERS, shared_counters, shared_summary, whole_limit
from warploom.papers.regmutex.sections import Sharing, count_acquire, wait_for_shared


def private_registers(code: Code, machine: Machine, threshold: float) -> int:
    """How many registers, from R0 on, each warp of a pair has to itself."""
    return min(code.registers, math.ceil(threshold * rounded(code.registers, machine)))


def shared_ctas(code: Code, machine: Machine, threshold: float, warps_per_cta: int) -> int:
    """How many CTAs become resident beyond those that fit with all their registers, each with one of those as its partner."""
    whole = rounded(code.registers, machine) * warps_per_cta
    private = private_registers(code, machine, threshold) * warps_per_cta
    unshared = machine.warp_registers // whole
    return min(unshared, (machine.warp_registers - unshared * whole) // private)


class Ownership(Sharing):
    """What the policy keeps in every SM."""

    partners: Mask  # warps that share registers with another
    owners: Mask  # warps that have taken the shared registers
    owning_cta: Annotated[Array[i8], MAX_CTAS]  # by the lower CTA slot of a pair: 1 + the slot whose warps never wait; 0: none
    private: i8  # registers that each warp of a pair has to itself
    distance: i8  # between the CTA slots of a pair; slots below may have a partner that far above
    sharing: i8  # pairs of CTAs


class Notes(Record):
    """What is noted of one instruction."""

    shared: flag  # it touches a register above the threshold


@policy
class OwnerWarp(NamedTuple):
    """Further CTAs share registers above a threshold with resident ones, warp by warp; the first to need them keeps them."""

    CHOICE = "allocation"
    NAME = "owner-warp"
    SOURCE = "Jatala, Anantpur, Karkare: Improving GPU Performance Through Resource Sharing, HPDC 2016; regmutex, section IV-C"
    LIMITS = {"threshold": (0.05, 0.95)}
    MEANING = {"threshold": "share of a kernel's registers that each warp of a pair has to itself"}
    NOTES = Notes
    STATE = Ownership

    threshold: float = 0.1

    COUNTERS = SHARING_COUNTERS

    # The compile-time half.

    def registers_per_warp(policy, code: Code, machine: Machine) -> int:
        return rounded(code.registers, machine)

    def resident_limit(policy, code: Code, machine: Machine, warps_per_cta: int) -> int:
        return whole_limit(code, machine, warps_per_cta) + shared_ctas(code, machine, policy.threshold, warps_per_cta)

    def annotate(policy, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
        private = private_registers(code, machine, policy.threshold)
        static = static_table(code)
        notes = np.zeros(len(static), dtype_of(Notes))
        for pc, row in enumerate(static):
            touched = (*row["reads"][: row["n_reads"]], *row["writes"][: row["n_writes"]])
            notes["shared"][pc] = any(register >= private for register in touched)
        return notes

    # The hardware half.

    def freed_with_cta(policy) -> bool:
        return True  # all but the shared registers, which their owner gives back at its exit

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: Ownership = sm.allocation
        whole = ctx.info.registers_per_warp
        state.private = min(ctx.info.registers, math.ceil(policy.threshold * whole))
        state.distance = ctx.info.entries // (whole * ctx.info.warps_per_cta)
        state.sharing = max(0, ctx.info.cta_limit - state.distance)

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: Ownership = sm.allocation
        slot = sm.warp[warp].cta
        registers = ctx.info.registers_per_warp
        if slot < state.sharing or slot >= state.distance:
            state.partners |= bit(warp)
            registers = state.private
        for register in range(registers):
            allocate(ctx, sm, cycle, warp, register, find_free_anywhere(ctx, sm, group_of(ctx, warp, register)))

    def may_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
        state: Ownership = sm.allocation
        notes: Notes = ctx.code[pc].allocation
        if not notes.shared or not has(state.partners, warp) or has(state.owners, warp):
            return True
        slot = sm.warp[warp].cta
        pair = slot % state.distance
        step = state.distance * ctx.info.warps_per_cta
        partner = warp - step if slot >= state.distance else warp + step
        # One CTA of a pair never waits for the other: else each could wait at a barrier for a warp that waits for the other.
        owning = state.owning_cta[pair]
        if owning != 0 and owning != slot + 1 and has(sm.resident, partner):
            wait_for_shared(sm, cycle, warp)
            return False
        if owning == 0:
            state.owning_cta[pair] = slot + 1
        count_acquire(sm, cycle, warp)
        state.owners |= bit(warp)
        for register in range(state.private, ctx.info.registers_per_warp):
            allocate(ctx, sm, cycle, warp, register, find_free_anywhere(ctx, sm, group_of(ctx, warp, register)))
        return True

    def on_warp_exit(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: Ownership = sm.allocation
        if has(state.owners, warp):
            state.releases += 1
            state.held_cycles += cycle - state.since[warp]
            for register in range(state.private, ctx.info.registers_per_warp):
                release(ctx, sm, cycle, warp, register)
        state.owners &= ~bit(warp)
        state.partners &= ~bit(warp)
        wake(sm, state.queued)

    def on_cta_exit(policy, ctx: Context, sm: Sm, cycle: int, cta: int) -> None:
        state: Ownership = sm.allocation
        pair = cta % state.distance
        if state.owning_cta[pair] == cta + 1:
            partner = cta - state.distance if cta >= state.distance else cta + state.distance
            state.owning_cta[pair] = 0
            if partner < ctx.info.cta_limit and (sm.cta[partner].warps & state.owners) != NOTHING:
                state.owning_cta[pair] = partner + 1
            wake(sm, state.queued)

    # What is reported.

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        code, machine = run.code, run.machine
        pairs = max(0, run.occupancy.ctas - whole_limit(code, machine, run.trace.warps_per_cta)) * run.trace.warps_per_cta
        whole = rounded(code.registers, machine)
        private = private_registers(code, machine, policy.threshold) if pairs else whole
        return shared_counters(states, run, (private, whole - private), pairs)

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return shared_summary(counters)

    def storage_bits(policy, machine: Machine) -> int:
        warps = machine.sm.warps_per_sm
        # Per warp whether it shares, its partner, whether it owns; per pair of CTAs which of the two never waits.
        return warps * (2 + (warps - 1).bit_length()) + 2 * (machine.sm.ctas_per_sm // 2)
