"""Renaming without a compiler: a register is mapped when it is written and given back when it is written again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from warploom.machines import Machine
from warploom.machines.schema import MAX_WARP_REGISTERS
from warploom.papers.rfv.renaming import (
    NEUTRAL,
    allocation_counters,
    allocation_summary,
    entry_bits,
    find_entry,
    find_entry_anywhere,
    table_conflicts,
    table_energy,
)
from warploom.register_file import policy
from warploom.register_file.bits import EVERYTHING, NOTHING, count
from warploom.register_file.columns import mask_at
from warploom.register_file.context import Context
from warploom.register_file.layout import Sm
from warploom.register_file.services import allocate, covers, group_of, release, wake


@policy
class HardwareRenaming(NamedTuple):
    """A result of all lanes is written to a fresh physical register and the old one is released; no release before that."""

    CHOICE = "allocation"
    NAME = "hardware-renaming"
    SOURCE = "a patent of Tarjan and Skadron (NVIDIA), as rfv, section 9.5, compares with it"
    GIVEN = ("rename_cycles",)
    LIMITS = {"rename_cycles": (0, 4)}
    MEANING = {"rename_cycles": "pipeline stages of renaming"}
    STATE = (
        ("touched", "u1", (MAX_WARP_REGISTERS,)),
        ("warps_peak", "i8"),
        ("renames", "i8"),
        ("table_accesses", "i8"),
        ("waits", "i8"),
    )
    NOTES = (("lookups", "u1"), ("conflicts", "u1"))

    rename_cycles: int = 1

    def annotate(policy, code: Any, table: np.ndarray, machine: Machine) -> np.ndarray:
        notes = np.zeros(len(table), np.dtype(list(HardwareRenaming.NOTES), align=True))
        for pc, row in enumerate(table):
            notes[pc]["lookups"] = row["n_reads"] + row["n_writes"]
            notes[pc]["conflicts"] = table_conflicts(row["reads"][: row["n_reads"]].tolist())
        return notes

    def freed_with_cta(policy) -> bool:
        return True

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        sm.allocation.warps_peak = max(sm.allocation.warps_peak, count(sm.resident))

    def may_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
        """The names of all resident warps fit the file, so that an entry is free or about to be."""
        row = ctx.code[pc]
        needed = 0
        for number in range(row.n_writes):
            if sm.map[warp, row.writes[number]] < 0:
                needed += 1
        if needed > ctx.info.entries - sm.allocated:
            sm.allocation.waits += 1
            return False
        return True

    def map_write(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, index: int) -> int:
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
        sm.allocation.renames += 1
        return entry

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        sm.allocation.table_accesses += ctx.code[pc].allocation.lookups

    def issue_delay(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int) -> int:
        return policy.rename_cycles + ctx.code[pc].allocation.conflicts

    def issue_stages(policy) -> int:
        return policy.rename_cycles

    def on_allocate(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        sm.allocation.touched[entry] = 1

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        if sm.held != NOTHING:
            wake(sm, EVERYTHING)

    def counters(policy, states: Any, run: Any) -> dict[str, Any]:
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

    def energy(policy, counters: dict[str, Any], technology: Any, run: Any) -> Iterator[tuple[str, str, float]]:
        return table_energy(counters["table_accesses"], counters["table_bytes_peak"], technology, run)

    def storage_bits(policy, machine: Machine) -> int:
        warps = machine.sm.warps_per_sm
        return warps * machine.sm.max_registers_per_thread * entry_bits(machine) + machine.warp_registers
