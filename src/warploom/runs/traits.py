"""What a workload is like: its launch, and what its execution counts."""

from __future__ import annotations

from typing import Any

from warploom.chip.machines import Machine, load_machine
from warploom.chip.sm import baseline_policies
from warploom.chip.sm.occupancy import occupancy
from warploom.designs import design as make_design
from warploom.programs.program import WorkloadOrigin
from warploom.programs.source import PTX
from warploom.programs.workloads.profile import profile
from warploom.programs.workloads.registry import load_workload, published_rows, sets_of
from warploom.runs.execution import Executions
from warploom.runs.spec import RunSpec


def describe_workload(name: str, size: str, machine: Machine | str) -> dict[str, Any]:
    """A workload's row in the list: what it is, its launch, and what its execution counts."""
    workload = load_workload(name)
    chip = load_machine(machine) if isinstance(machine, str) else machine
    execution = Executions().of(RunSpec(WorkloadOrigin(workload.name), make_design("baseline"), chip, size, code=PTX).settled)
    row = profile([(launch.code, trace) for launch, trace in execution.traced()])
    main, trace = next(pair for pair in execution.traced() if pair[0].code.name == row["kernel"])
    return {
        "name": workload.name,
        "title": workload.title,
        "sets": sets_of(workload.name),
        "size": size,
        "verified": execution.verified,
        **row,
        "ctas_per_sm": occupancy(main.code, chip, baseline_policies().allocation, trace.warps_per_cta).ctas,
        "published": published_rows(workload.name),
    }
