"""One run that everybody watches, beside the same run without anybody."""

from __future__ import annotations

import pytest

from warploom.chip.machines import load_machine
from warploom.chip.observers import observer_names
from warploom.chip.observers.pipeline_log import PipelineLog
from warploom.chip.observers.timeline import Timeline
from warploom.programs.program import workload_program
from warploom.runs.execution import Executions
from warploom.runs.result import Result
from warploom.runs.simulate import simulate

PROGRAM = "reduction"  # several launches, barriers, divergence
DESIGN = "rfc"  # values move between two levels, too


@pytest.fixture(scope="session")
def runs() -> tuple[Result, Result]:
    """The same program without anybody watching, and with everybody."""
    executions = Executions()
    chosen = [PipelineLog(sm=0), Timeline(sm=0)]
    everybody = [*chosen, *(name for name in observer_names() if name not in {each.NAME for each in chosen})]
    machine = load_machine("gtx480").scaled(2)
    plain, watched = (
        simulate(workload_program(PROGRAM), DESIGN, machine, size="tiny", executions=executions, observers=observers)
        for observers in ((), everybody)
    )
    return plain, watched
