"""Registers are mapped when they are written and given back when the compiler says that they are dead."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.records import u8
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_CTAS
from warploom.chip.sm import Policies, policy
from warploom.chip.sm.bits import NOTHING, bit, count, has
from warploom.chip.sm.context import Context
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.occupancy import occupancy, rounded
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.lanes import LANES
from warploom.designs.energy import RunFacts, Technology
from warploom.papers.rfv.flag_cache import has_flags, keep_flags
from warploom.papers.rfv.lifetimes import choose_exempt, exempt_first, exempt_registers, renaming_nothing
from warploom.papers.rfv.mapping import (
    entries_for,
    find_for,
    is_set_apart,
    keep_apart,
    map_directly,
    rename,
    set_apart,
    unmapped_results,
)
from warploom.papers.rfv.notes import Notes, annotated
from warploom.papers.rfv.release_points import describe_releases, release_points, usually_held, with_release_flags
from warploom.papers.rfv.releasing import is_list, release_flagged, release_listed, release_rest
from warploom.papers.rfv.renaming import entry_bits
from warploom.papers.rfv.reporting import (
    VIRTUALIZATION_COUNTERS,
    virtualization_bits,
    virtualization_counters,
    virtualization_energy,
    virtualization_summary,
)
from warploom.papers.rfv.reserved_memory import clear_memory, make_room, moved, refill_if_room
from warploom.papers.rfv.state import MAX_FLAG_CACHE, State
from warploom.papers.rfv.throttling import (
    choose_leader,
    feed,
    leads,
    let_on,
    settle_held,
    starve,
    throttle,
    too_few_left,
)

USUAL_THREADS = 256  # of a CTA, where no launch says it
WHOLE_CTA, ONLY_NEEDY = 0, 1  # who is held back when registers run short


def _flag_entries(policy: Rfv) -> int:
    """Entries of the release flag cache; flags in operands leave it nothing to keep."""
    return policy.flag_cache if policy.flags == "instructions" else 0


@policy
class Rfv(NamedTuple):
    """Registers are renamed to physical ones when written, and released at last reads as metadata instructions say."""

    CHOICE = "allocation"
    NAME = "rfv"
    SOURCE = "Jeon, Ravi, Kim, Annavaram: GPU Register File Virtualization, MICRO 2015, sections 6 to 8"
    GIVEN = ("rename_cycles",)
    LIMITS = {
        "shrink": (0.01, 1.0),
        "table_bytes": (0, 65536),
        "flag_cache": (0, MAX_FLAG_CACHE),
        "rename_cycles": (0, 4),
        "divergence": ("analysed", "assumed"),
        "flags": ("instructions", "operands"),
        "throttle": ("cta", "needy"),
        "guarded": (1, MAX_CTAS),
        "resident": (1.0, 64.0),
        "residency": ("named", "held", "usual"),
    }
    MEANING = {
        "shrink": "physical registers as a share of the architected file, which occupancy goes by (section 8.1)",
        "table_bytes": "renaming table; registers that do not fit are exempt, longest-lived first (section 7.1); 0: no table",
        "flag_cache": "entries of the release flag cache; 0: none (section 7.2)",
        "rename_cycles": "pipeline stages of renaming (section 7.1: one); 0: the table is read in no time",
        "divergence": "which branches the compiler takes for divergent: those that its analysis finds, or all",
        "flags": "where release flags are: in instructions of their own (section 6.1), or in bits of the instructions that read",
        "throttle": "who waits when registers run short: every warp of other CTAs (section 8.1), or those that need a register",
        "guarded": "CTAs for which what they may still need is left free, that which needs least first (section 8.1: one)",
        "spill": "store a warp's registers in memory when a CTA needs more than there are (section 8.1)",
        "resident": "architected registers as a multiple of the machine's: CTAs beyond its register file become resident",
        "residency": "resident CTAs: as many as name no more registers than there are, hold no more at most, or in the mean",
    }
    COMPILED_BY = ("table_bytes", "divergence", "flags", "resident", "residency")
    STATE = State
    NOTES = Notes

    shrink: float = 1.0
    table_bytes: int = 1024
    flag_cache: int = 10
    rename_cycles: int = 1
    divergence: str = "analysed"
    flags: str = "instructions"
    throttle: str = "cta"
    guarded: int = 1
    spill: bool = True
    resident: float = 1.0
    residency: str = "named"

    COUNTERS = VIRTUALIZATION_COUNTERS

    # The compile-time half.

    def compile(policy, code: Code, machine: Machine) -> Code:
        if code.literal:
            raise WarploomError(f"kernel {code.name}: allocation=rfv needs allocated registers, which literal code has not")
        warps_per_cta = -(-(code.threads or USUAL_THREADS) // LANES)
        warps = machine.sm.warps_per_sm
        if policy.residency == "named":
            warps = occupancy(code, machine, policy, warps_per_cta).ctas * warps_per_cta
        exempt = choose_exempt(code, 8 * policy.table_bytes // entry_bits(machine) // warps)
        if len(exempt) >= code.registers:
            return renaming_nothing(code)
        numbered = exempt_first(code, exempt)
        points = release_points(numbered, len(exempt), assume_divergent=policy.divergence == "assumed")
        return with_release_flags(numbered, points, in_operands=policy.flags == "operands")

    def annotate(policy, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
        direct = exempt_registers(code) * -(-(code.threads or USUAL_THREADS) // LANES)
        if direct > machine.warp_registers:
            raise WarploomError(
                f"kernel {code.name}: allocation=rfv maps {direct} registers of a CTA directly, "
                f"and the file holds {machine.warp_registers}; give it more table_bytes or a larger share of the file"
            )
        return annotated(code, table)

    def registers_per_warp(policy, code: Code, machine: Machine) -> int:
        return rounded(code.registers, machine)

    def physical_share(policy) -> float:
        return policy.shrink

    def resident_limit(policy, code: Code, machine: Machine, warps_per_cta: int) -> int:
        named = rounded(code.registers, machine)
        if policy.residency == "named":
            return int(machine.warp_registers * policy.resident) // (named * warps_per_cta)
        physical = int(machine.warp_registers * policy.shrink)
        held = release_points(code).most_held if policy.residency == "held" else ceil(usually_held(code))
        return max(1, physical // (max(1, min(named, held)) * warps_per_cta))

    def describe(policy, code: Code) -> dict[int, str]:
        return describe_releases(code)

    # The hardware half: mapping.

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.allocation
        set_apart(ctx, sm)
        state.leader = -1

    def can_launch(policy, ctx: Context, sm: Sm, cycle: int) -> bool:
        state: State = sm.allocation
        return sm.ctas_resident + sm.pending_count < state.most_ctas

    def on_cta_launch(policy, ctx: Context, sm: Sm, cycle: int, cta: int) -> None:
        state: State = sm.allocation
        state.ctas |= bit(cta)
        state.mapped_of[cta] = 0
        choose_leader(sm)

    def on_cta_exit(policy, ctx: Context, sm: Sm, cycle: int, cta: int) -> None:
        state: State = sm.allocation
        state.ctas &= ~bit(cta)
        choose_leader(sm)
        let_on(sm, cycle)

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.allocation
        state.warps_peak = max(state.warps_peak, count(sm.resident))
        clear_memory(sm, warp)
        map_directly(ctx, sm, cycle, warp)

    def freed_with_cta(policy) -> bool:
        return True  # the exempt ones; all others go with their warp at the latest

    def on_warp_exit(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        release_rest(ctx, sm, cycle, warp)

    def map_write(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, index: int) -> int:
        state: State = sm.allocation
        entry = sm.map[warp, register]
        if entry < 0:
            entry = find_for(ctx, sm, warp, register)
            if entry >= 0:
                rename(ctx, sm, cycle, warp, register, entry)
                state.renames += 1
        return entry

    def on_allocate(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.allocation
        state.touched[entry] = 1

    def issue_delay(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int) -> int:
        if policy.rename_cycles == 0 or policy.table_bytes == 0:
            return 0
        notes: Notes = ctx.code[pc].allocation
        return policy.rename_cycles + notes.conflicts

    def issue_stages(policy) -> int:
        return policy.rename_cycles if policy.table_bytes > 0 else 0

    # Release.

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: State = sm.allocation
        row = ctx.code[pc]
        notes: Notes = row.allocation
        state.table_accesses += notes.lookups
        release_flagged(ctx, sm, cycle, warp, row)

    def on_metadata(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, bits: u8) -> None:
        if is_list(bits):
            release_listed(ctx, sm, cycle, warp, bits)
        else:
            keep_flags(sm, policy.flag_cache, pc)

    def metadata_cached(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int) -> bool:
        return not is_list(ctx.code[pc].payload) and has_flags(sm, policy.flag_cache, pc)

    # Too few registers.

    def may_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
        state: State = sm.allocation
        if has(state.spilled, warp):
            return False
        row = ctx.code[pc]
        needed = unmapped_results(sm, warp, row)
        might_wait = state.scarce and not leads(sm, warp) and (needed > 0 or policy.throttle == WHOLE_CTA)
        if might_wait and too_few_left(sm, warp, policy.guarded, needed):
            throttle(sm, cycle, warp)
            return False
        if needed > 0 and not entries_for(ctx, sm, warp, row):
            starve(sm, cycle, warp)
            return False
        return True

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.allocation
        if is_set_apart(ctx, sm, entry):
            keep_apart(ctx, sm, entry)
        elif state.starved != NOTHING:
            feed(sm, cycle, entry % ctx.info.groups)
        elif state.spilled != NOTHING:
            refill_if_room(ctx, sm, cycle)

    def on_stuck(policy, ctx: Context, sm: Sm, cycle: int) -> bool:
        if not policy.spill or sm.injected_count + sm.injected_in_flight > 0:
            return False
        return make_room(ctx, sm, cycle)

    def on_injected(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, entry: int, kind: int) -> None:
        moved(ctx, sm, cycle, warp, register, entry, kind)

    # What is reported.

    def finish(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        settle_held(sm, cycle)

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return virtualization_counters(states, run)

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return virtualization_summary(counters)

    def energy(policy, counters: dict[str, Any], technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
        return virtualization_energy(counters, technology, run, policy.table_bytes, _flag_entries(policy))

    def storage_bits(policy, machine: Machine) -> int:
        return virtualization_bits(machine, policy.table_bytes, _flag_entries(policy), balanced=policy.shrink < 1)

    def conflict(policy, design: Policies) -> str | None:
        whole = policy.shrink * policy.resident == 1 and policy.residency == "named"
        if policy.spill and not whole and type(design.hierarchy).NAME != "none":
            return "a spilled register could have its newest value in the upper level; write spill=false"
        return None
