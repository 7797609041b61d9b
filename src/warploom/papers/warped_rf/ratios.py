"""Energy saved, if an access cost so many times what a bank of 8 KB leaks in a cycle (section 6.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warploom.compiler.code.lanes import LANES

BANK_BYTES = 8192
ENTRY_BYTES = 128
RATIOS = (2, 5, 8)


def savings_by_ratio(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, float]:
    """Shares of a reference's total energy that a design saves at each ratio; both as the fields of a `Result`."""
    energy, before = ours["energy_pj"], theirs["energy_pj"]
    saved = {}
    for ratio in RATIOS:
        scale = ratio / _dynamic_to_leakage(theirs)
        spent = energy["dynamic"] * scale + energy["leakage"] + energy["overhead"]
        reference = before["dynamic"] * scale + before["leakage"] + before["overhead"]
        saved[f"total_saving_{ratio}_to_1"] = 1 - spent / reference
    return saved


def _dynamic_to_leakage(result: Mapping[str, Any]) -> float:
    """What one access costs, over what a bank of 8 KB leaks in one cycle, in a result with every entry on."""
    counters, energy = result["counters"], result["energy_pj"]
    access = energy["dynamic"] * LANES / (counters["rf_read_lanes"] + counters["rf_write_lanes"])
    bank = energy["leakage"] * (BANK_BYTES // ENTRY_BYTES) / counters["entry_cycles"]
    return access / bank
