"""What policies that map architected to physical registers at run time share: the search for an entry, table costs, counters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from warploom.base.records import Array, Record, i8, u1
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_WARP_REGISTERS
from warploom.chip.sm.bits import NOTHING, lowest, without_lowest
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.hooks import powered
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import inlined, separate
from warploom.compiler.code.instruction import Code
from warploom.designs.energy import RunFacts, Technology

TABLE_BANKS = 4


class Touched(Record):
    """What says how many registers there would have to be."""

    touched: Annotated[Array[u1], MAX_WARP_REGISTERS]  # entries that ever held a register
    warps_peak: i8  # warps that were resident together


# What every design that renames reports; a design without one of the mechanisms reports nothing happening.
NEUTRAL = {
    "allocation_reduction": 0.0,
    "renames": 0,
    "releases_pir": 0,
    "releases_pbr": 0,
    "flag_fetches": 0,
    "flag_cache_hits": 0,
    "static_code_increase": 0.0,
    "dynamic_code_increase": 0.0,
    "throttled_cycles": 0,
    "spilled_registers": 0,
    "subarray_on_cycles": 0,
    "subarray_wakeups": 0,
    "exempt_registers": 0,
    "table_bytes": 0,
}

ALLOCATION_COUNTERS = {
    "registers_touched": CounterMeaning("registers", "Entries that were ever allocated, added up over the SMs."),
    "registers_architected": CounterMeaning(
        "registers", "Registers that the compiler allocated to warps that were resident together, added up over the SMs."
    ),
    "physical_peak": CounterMeaning("entries", "The most entries of one SM that were allocated at the same time."),
    "allocation_reduction": CounterMeaning(
        "ratio", "Share of the registers that the compiler allocated which were never needed."
    ),
}

# What all of the paper's policies report, neutral where it does not apply (`NEUTRAL`).
COMMON_COUNTERS = {
    "allocation_reduction": CounterMeaning(
        "ratio", "Share of the registers that the compiler allocated which were never needed."
    ),
    "flag_fetches": CounterMeaning("instructions", "Instructions with release flags that were fetched."),
    "flag_cache_hits": CounterMeaning("instructions", "Instructions with release flags that were found in the flag cache."),
    "static_code_increase": CounterMeaning("ratio", "Instructions with release flags over those of the program, in the code."),
    "dynamic_code_increase": CounterMeaning(
        "ratio", "Instructions with release flags that were fetched over those of the program that were issued."
    ),
    "subarray_on_cycles": CounterMeaning("entry cycles", "`on_cycles` under the paper's name; 0 where no subarray is gated."),
    "subarray_wakeups": CounterMeaning("subarrays", "Times that a subarray that was off was woken up; 0 where none is gated."),
    "exempt_registers": CounterMeaning("registers", "Registers of a thread that are not renamed."),
    "table_bytes": CounterMeaning("bytes", "Size of the renaming table that the program needs."),
}


@separate
def find_entry(ctx: Context, sm: Sm, group: int) -> int:
    """The lowest free entry of a bank group where nothing must be woken, else the lowest free one; -1: none is free."""
    first = -1
    for word in range(ctx.info.row_words):
        rows = sm.free_rows[group, word]
        while rows != NOTHING:
            entry = (word * 64 + lowest(rows)) * ctx.info.groups + group
            if powered(ctx.design.power, ctx, sm, entry):
                return entry
            if first < 0:
                first = entry
            rows = without_lowest(rows)
    return first


@separate
def find_entry_anywhere(ctx: Context, sm: Sm, group: int) -> int:
    """The same, in another bank group where this one has none."""
    for step in range(ctx.info.groups):
        entry = find_entry(ctx, sm, (group + step) % ctx.info.groups)
        if entry >= 0:
            return entry
    return -1


@inlined
def has_free(ctx: Context, sm: Sm, group: int) -> bool:
    """Whether a bank group has a free entry."""
    found = False
    for word in range(ctx.info.row_words):
        found |= sm.free_rows[group, word] != NOTHING
    return found


def entry_bits(machine: Machine) -> int:
    """Bits of a physical register's number: one entry of a renaming table."""
    return max(1, (machine.warp_registers - 1).bit_length())


def table_conflicts(registers: list[int], exempt: int = 0) -> int:
    """Further cycles that the look-ups of an instruction's operands take where several lie in one bank of the table."""
    busy = [0] * TABLE_BANKS
    for register in set(registers):
        if register >= exempt:
            busy[register % TABLE_BANKS] += 1
    return max(0, max(busy) - 1)


def table_energy(accesses: int, size: float, technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
    """The terms of a renaming table of `size` bytes."""
    table = technology.table(size)
    yield "renaming table accesses", "overhead", accesses * table.access
    yield "renaming table leakage", "overhead", table.leakage * table.banks * run.seconds * run.sms


def allocation_counters(states: np.ndarray, code: Code) -> dict[str, Any]:
    """Registers that were ever touched, and those that the compiler allocated to the warps that were resident together."""
    return {
        "registers_touched": int((states["touched"] != 0).sum()),
        "registers_architected": int(states["warps_peak"].sum()) * code.registers,
    }


def allocation_summary(counters: dict[str, Any]) -> dict[str, Any]:
    """The ratio of the two, over all SMs and launches."""
    return {
        "physical_peak": counters["allocated_peak"],
        "allocation_reduction": 1 - counters["registers_touched"] / max(1, counters["registers_architected"]),
    }
