"""A design's result against what it is meant to better: the same machine with the same scheduler, and nothing else changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from warploom.designs import Design
from warploom.designs import design as make_design
from warploom.errors import WarploomError
from warploom.simulation.result import Result

BANK_BYTES = 8192
ENTRY_BYTES = 128
LANES = 32
RATIOS = (2, 5, 8)  # energy of an access to what a bank of 8 KB leaks in a cycle (Warped Register File, section 6.4)


def reference_of(point: Design) -> Design:
    """The design that another is measured against. A scheduler that only serves its allocation gives way to the usual one."""
    scheduler = {"policy": point.policies.scheduler.NAME, **point.policies.scheduler._asdict()}
    try:
        plain = make_design("baseline", scheduler=scheduler)
    except WarploomError:
        plain = make_design("baseline")
    return replace(plain, name=str(plain))


def savings(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, float]:
    """Shares of a reference's time and energy that a design saves; both as `Result.to_dict` gives them."""
    energy, before = ours["energy_pj"], theirs["energy_pj"]
    saved = {
        "slowdown": ours["cycles"] / theirs["cycles"] - 1,
        "dynamic_saving": 1 - energy["dynamic"] / before["dynamic"],
        "leakage_saving": 1 - energy["leakage"] / before["leakage"],
        "total_saving": 1 - energy["total"] / before["total"],
        "energy_vs_baseline": energy["total"] / before["total"],
    }
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


def against(result: Result, reference: Result, point: Design) -> Result:
    """The result with its savings, and what the design's policies add to them."""
    compared: dict[str, Any] = {"reference": reference.design["name"]}
    compared |= savings({"cycles": result.cycles, "energy_pj": result.energy_pj}, vars(reference))
    for policy in point.policies:
        if hasattr(policy, "versus"):
            compared |= policy.versus(result, reference)
    return replace(result, versus=compared)
