"""What a workload is like: its launch, and what its execution counts."""

from __future__ import annotations

from typing import Any

from warploom.designs import design as make_design
from warploom.machines import Machine, load_machine
from warploom.register_file import baseline_policies
from warploom.register_file.occupancy import occupancy
from warploom.simulation.execution import Executions, execute
from warploom.workloads.profile import profile
from warploom.workloads.program import workload_program
from warploom.workloads.registry import load_workload, published_rows, sets_of


def describe_workload(name: str, size: str, machine: Machine | str) -> dict[str, Any]:
    """A workload's row in the list: what it is, its launch, and what its execution counts."""
    workload = load_workload(name)
    chip = load_machine(machine) if isinstance(machine, str) else machine
    execution = execute(workload_program(name), make_design("baseline"), chip, size, Executions())
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
