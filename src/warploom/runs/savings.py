"""A design's result against what it is meant to better: the same machine with the same scheduler, and nothing else changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from warploom.base.errors import WarploomError
from warploom.designs import Design
from warploom.designs import design as make_design
from warploom.runs.result import Result
from warploom.runs.spec import RunSpec


def reference_of(point: Design) -> Design:
    """The design that another is measured against. A scheduler that only serves its allocation gives way to the usual one."""
    scheduler = {"policy": point.policies.scheduler.NAME, **point.policies.scheduler._asdict()}
    try:
        plain = make_design("baseline", scheduler=scheduler)
    except WarploomError:
        plain = make_design("baseline")
    return replace(plain, name=str(plain))


def savings(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, float]:
    """Shares of a reference's time and energy that a design saves; both as the fields of a `Result`."""
    energy, before = ours["energy_pj"], theirs["energy_pj"]
    return {
        "slowdown": ours["cycles"] / theirs["cycles"] - 1,
        "dynamic_saving": 1 - energy["dynamic"] / before["dynamic"],
        "leakage_saving": 1 - energy["leakage"] / before["leakage"],
        "total_saving": 1 - energy["total"] / before["total"],
        "energy_vs_baseline": energy["total"] / before["total"],
    }


def with_savings(spec: RunSpec, result_of: Callable[[RunSpec], Result]) -> Result:
    """The result of a run with what its design saves of the time and energy of its reference."""
    reference = replace(spec, design=reference_of(spec.design))
    result = result_of(spec)
    return result if reference == spec else against(result, result_of(reference), spec.design)


def against(result: Result, reference: Result, point: Design) -> Result:
    """The result with its savings, and what the design's policies add to them."""
    compared: dict[str, Any] = {"reference": reference.design["name"]}
    compared |= savings(vars(result), vars(reference))
    for policy in point.policies:
        if hasattr(policy, "versus"):
            compared |= policy.versus(result, reference)
    return replace(result, versus=compared)
