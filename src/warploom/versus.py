"""A design's result against what it is meant to better: the same machine with the same scheduler, and nothing else changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from warploom.designs import Design
from warploom.designs import design as make_design
from warploom.result import Result


def reference_of(point: Design) -> Design:
    """The design that another is measured against."""
    scheduler = {"policy": point.policies.scheduler.NAME, **point.policies.scheduler._asdict()}
    plain = make_design("baseline", scheduler=scheduler)
    return replace(plain, name=str(plain))


def against(result: Result, reference: Result, point: Design) -> Result:
    """The result with its savings: shares of the reference's time and energy, and what the design's policies add to them."""
    ours, theirs = result.energy_pj, reference.energy_pj
    savings: dict[str, Any] = {
        "reference": reference.design["name"],
        "slowdown": result.cycles / reference.cycles - 1,
        "dynamic_saving": 1 - ours["dynamic"] / theirs["dynamic"],
        "leakage_saving": 1 - ours["leakage"] / theirs["leakage"],
        "total_saving": 1 - ours["total"] / theirs["total"],
        "energy_vs_baseline": ours["total"] / theirs["total"],
    }
    for policy in point.policies:
        if hasattr(policy, "versus"):
            savings |= policy.versus(result, reference)
    return replace(result, versus=savings)
