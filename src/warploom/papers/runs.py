"""From a run by name, as figures ask for it, to a task that can be made anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warploom.designs import parse_design
from warploom.machines import Machine, load_machine
from warploom.papers.experiment import Run
from warploom.simulation.task import Task


def tasks_of(runs: Sequence[Run]) -> list[Task]:
    """A task for each run; machines and designs that several name are looked up once."""
    designs = {text: parse_design(text).to_dict() for text in dict.fromkeys(run.design for run in runs)}
    machines = {chosen: _machine(*chosen) for chosen in dict.fromkeys((run.machine, run.sms) for run in runs)}
    return [_task(run, designs[run.design], machines[run.machine, run.sms]) for run in runs]


def _task(run: Run, design: dict[str, Any], machine: Machine) -> Task:
    asked = (run.size, run.technology or None, run.check)
    return Task(run.workload, design, machine, *asked, code=run.code or machine.code)


def _machine(name: str, sms: int) -> Machine:
    machine = load_machine(name)
    return machine.scaled(sms) if sms else machine
