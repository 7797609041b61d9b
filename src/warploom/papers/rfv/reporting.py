"""What register file virtualization reports: counters, ratios, energy terms, storage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from warploom.base.records import field_names
from warploom.chip.machines import Machine
from warploom.chip.sm.counter import CounterMeaning, counters_of
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.designs.energy import RunFacts, Technology
from warploom.papers.rfv.lifetimes import exempt_registers
from warploom.papers.rfv.release_flags import FLAG_BITS, PAYLOAD_BITS, PBR, decode_pbr, is_release, payload
from warploom.papers.rfv.renaming import (
    ALLOCATION_COUNTERS,
    COMMON_COUNTERS,
    NEUTRAL,
    allocation_counters,
    allocation_summary,
    entry_bits,
    table_energy,
)
from warploom.papers.rfv.state import Counts

INSTRUCTION_BITS = 64

VIRTUALIZATION_COUNTERS = {
    **counters_of(Counts),
    **ALLOCATION_COUNTERS,
    **COMMON_COUNTERS,
    "static_metadata": CounterMeaning("instructions", "Instructions with release flags in the code."),
    "static_pbr": CounterMeaning("instructions", "Those of them that are lists of registers at branches (pbr)."),
    "static_pbr_registers": CounterMeaning("registers", "Registers in these lists."),
    "static_instructions": CounterMeaning("instructions", "Instructions of the program in the code."),
    "exempt_registers_peak": CounterMeaning(
        "registers", "Registers of a thread that are not renamed, in the launch with the most."
    ),
    "table_bytes_peak": CounterMeaning("bytes", "Size of the renaming table that is needed, in the launch with the largest."),
}


def virtualization_counters(states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
    """The sums over all SMs, and what the compiler has put into the code."""
    code = run.code
    metadata = [one for one in code.instructions() if is_release(one)]
    lists = [decode_pbr(payload(one)) for one in metadata if one.op == PBR]
    warps = run.occupancy.ctas * run.occupancy.warps_per_cta
    bits = (code.registers - exempt_registers(code)) * warps * entry_bits(run.machine)
    return {
        **{name: int(states[name].sum()) for name in field_names(Counts)},
        **allocation_counters(states, code),
        "static_metadata": len(metadata),
        "static_pbr": len(lists),
        "static_pbr_registers": sum(map(len, lists)),
        "static_instructions": len(code) - len(metadata),
        "exempt_registers_peak": exempt_registers(code),
        "table_bytes_peak": -(-bits // 8),
    }


def virtualization_summary(counters: dict[str, Any]) -> dict[str, Any]:
    """Ratios over all launches."""
    found = counters["metadata_skipped"]
    fetched = counters["metadata"] - found
    return {
        **{name: value for name, value in NEUTRAL.items() if name not in counters},
        **allocation_summary(counters),
        "flag_fetches": fetched,
        "flag_cache_hits": found,
        "static_code_increase": counters["static_metadata"] / counters["static_instructions"],
        "dynamic_code_increase": fetched / max(1, counters["warp_instructions"]),
        "exempt_registers": counters["exempt_registers_peak"],
        "table_bytes": counters["table_bytes_peak"],
    }


def virtualization_energy(
    counters: dict[str, Any], technology: Technology, run: RunFacts, table_bytes: int, flag_cache: int
) -> Iterator[tuple[str, str, float]]:
    """The terms of the renaming table, of metadata instructions, and of the release flag cache with so many entries."""
    yield from table_energy(counters["table_accesses"], table_bytes, technology, run)
    # From an instruction cache of 2 KB; decoding is taken to cost what fetching does.
    fetch, _ = technology.small_array(8 * 2048, INSTRUCTION_BITS, run.cycle_time)
    yield "flag instructions fetched and decoded", "overhead", counters["flag_fetches"] * 2 * fetch
    if flag_cache:
        bit_read, leakage = technology.small_array(flag_cache * PAYLOAD_BITS, 1, run.cycle_time)
        accessed = PAYLOAD_BITS * (counters["flag_fetches"] + counters["flag_cache_hits"])
        accessed += FLAG_BITS * counters["warp_instructions"]
        yield "release flag cache", "overhead", accessed * bit_read
        yield "release flag cache leakage", "overhead", leakage * run.seconds * run.sms


def virtualization_bits(machine: Machine, table_bytes: int, flag_cache: int, balanced: bool) -> int:
    """The storage of table, free list and flag cache, and of a counter for each CTA where registers can run short."""
    balances = machine.sm.ctas_per_sm * entry_bits(machine) if balanced else 0
    return 8 * table_bytes + machine.warp_registers + flag_cache * PAYLOAD_BITS + balances
