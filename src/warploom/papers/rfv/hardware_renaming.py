"""Renaming without a compiler: a register is mapped when it is written and given back when it is written again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from warploom.base.records import Record, dtype_of, i8, u1
from warploom.chip.machines import Machine
from warploom.chip.sm import policy
from warploom.chip.sm.bits import EVERYTHING, NOTHING, count
from warploom.chip.sm.columns import mask_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning, counters_of
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import allocate, covers, group_of, release, wake
from warploom.compiler.code.instruction import Code
from warploom.designs.energy import RunFacts, Technology
from warploom.papers.rfv.renaming import (
    ALLOCATION_COUNTERS,
    COMMON_COUNTERS,
    NEUTRAL,
    Touched,
    allocation_counters,
    allocation_summary,
    entry_bits,
    find_entry,
    find_entry_anywhere,
    table_conflicts,
    table_energy,
)
from warploom.papers.rfv.state import Counts


class State(Touched):
    """What the policy keeps in every SM."""

    renames: i8
    table_accesses: i8
    waits: i8


class Notes(Record):
    """What is noted of one instruction."""

    lookups: u1  # accesses of the renaming table
    conflicts: u1  # cycles that they take beyond the first


@policy
class HardwareRenaming(NamedTuple):
    """A result of all lanes is written to a fresh physical register and the old one is released; no release before that."""

    CHOICE = "allocation"
    NAME = "hardware-renaming"
    SOURCE = "a patent of Tarjan and Skadron (NVIDIA), as rfv, section 9.5, compares with it"
    GIVEN = ("rename_cycles",)
    LIMITS = {"rename_cycles": (0, 4)}
    MEANING = {"rename_cycles": "pipeline stages of renaming"}
    STATE = State
    NOTES = Notes

    rename_cycles: int = 1

    COUNTERS = {
        **ALLOCATION_COUNTERS,
        **COMMON_COUNTERS,
        **{name: counters_of(Counts)[name] for name in (*NEUTRAL, "table_accesses") if name in counters_of(Counts)},
        "table_bytes_peak": CounterMeaning("bytes", "Size of the renaming table that is needed, in the launch with the largest."),
    }

    def annotate(policy, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
        notes = np.zeros(len(table), dtype_of(Notes))
        for pc, row in enumerate(table):
            notes[pc]["lookups"] = row["n_reads"] + row["n_writes"]
            notes[pc]["conflicts"] = table_conflicts(row["reads"][: row["n_reads"]].tolist())
        return notes

    def freed_with_cta(policy) -> bool:
        return True

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.allocation
        state.warps_peak = max(state.warps_peak, count(sm.resident))

    def may_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
        """The names of all resident warps fit the file, so that an entry is free or about to be."""
        state: State = sm.allocation
        row = ctx.code[pc]
        needed = 0
        for number in range(row.n_writes):
            if sm.map[warp, row.writes[number]] < 0:
                needed += 1
        if needed > ctx.info.entries - sm.allocated:
            state.waits += 1
            return False
        return True

    def map_write(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, index: int) -> int:
        state: State = sm.allocation
        old = sm.map[warp, register]
        if old >= 0 and not covers(sm, warp, mask_at(ctx, index)):
            return old  # the other lanes' values stay
        group = group_of(ctx, warp, register)
        entry = find_entry(ctx, sm, group)
        if entry < 0:
            if old >= 0:
                return old
            entry = find_entry_anywhere(ctx, sm, group)
        if old >= 0:
            release(ctx, sm, cycle, warp, register)
        allocate(ctx, sm, cycle, warp, register, entry)
        state.renames += 1
        return entry

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: State = sm.allocation
        notes: Notes = ctx.code[pc].allocation
        state.table_accesses += notes.lookups

    def issue_delay(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int) -> int:
        notes: Notes = ctx.code[pc].allocation
        return policy.rename_cycles + notes.conflicts if policy.rename_cycles > 0 else 0

    def issue_stages(policy) -> int:
        return policy.rename_cycles

    def on_allocate(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.allocation
        state.touched[entry] = 1

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        if sm.held != NOTHING:
            wake(sm, EVERYTHING)

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        warps = run.occupancy.ctas * run.occupancy.warps_per_cta
        return {
            **{name: int(states[name].sum()) for name in ("renames", "table_accesses")},
            **allocation_counters(states, run.code),
            "table_bytes_peak": -(-run.code.registers * warps * entry_bits(run.machine) // 8),
        }

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return {
            **{name: value for name, value in NEUTRAL.items() if name not in counters},
            **allocation_summary(counters),
            "table_bytes": counters["table_bytes_peak"],
        }

    def energy(policy, counters: dict[str, Any], technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
        return table_energy(counters["table_accesses"], counters["table_bytes_peak"], technology, run)

    def storage_bits(policy, machine: Machine) -> int:
        warps = machine.sm.warps_per_sm
        return warps * machine.sm.max_registers_per_thread * entry_bits(machine) + machine.warp_registers
