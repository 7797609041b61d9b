"""One run as plain data, so that it can be made in another process or on another machine."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from warploom.designs import from_dict
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.machines import Machine
from warploom.programs.named import program_named
from warploom.register_file import CHOICES
from warploom.simulation.caches import COLD
from warploom.simulation.execution import Executions
from warploom.simulation.result import Result
from warploom.simulation.simulate import simulate
from warploom.workloads.own_kernel import OwnKernel
from warploom.workloads.program import PTX, Program


@dataclass(frozen=True)
class Task:
    """One run of a workload, a recording (``workload`` is its file) or a user's own kernel (``workload`` is what to call it).

    The design travels to other processes as plain data (`Design.to_dict`).
    """

    workload: str
    design: dict[str, Any]
    machine: Machine
    size: str = "small"
    technology: str | None = None
    check: bool = False
    max_instructions: int = DEFAULT_BUDGET
    code: str = PTX
    seed: int | None = None  # of the workload's inputs; None: the workload's own
    launches: tuple[tuple[str, int], ...] = ()  # those that are timed, each alone: see `simulate`; empty: all of the program
    kernel: OwnKernel | None = None
    caches: str = COLD  # in what condition launches find them

    @property
    def compiled_for(self) -> tuple[Any, ...]:
        """What decides the compiled core: tasks of equal value share it."""
        return (*(self.design[choice]["policy"] for choice in CHOICES), self.check)

    @property
    def executed_as(self) -> tuple[Any, ...]:
        """What is executed, but for the code that the design makes of it: tasks of equal value can share executions."""
        own = "" if self.kernel is None else repr(self.kernel)
        return (self.workload, self.code, self.size, -1 if self.seed is None else self.seed, self.launches, own, self.caches)

    def program(self) -> Program:
        """The program that it runs."""
        return program_named(self.workload, self.code, self.seed) if self.kernel is None else self.kernel.program(self.code)


@functools.lru_cache(maxsize=1)
def _executions(executed_as: tuple[Any, ...]) -> Executions:
    return Executions()


def run_task(task: Task) -> Result:
    """Make the run in this process."""
    return simulate(
        task.program(),
        from_dict(task.design),
        task.machine,
        size=task.size,
        technology=task.technology,
        check=task.check,
        max_instructions=task.max_instructions,
        executions=_executions(task.executed_as),
        launches=task.launches,
        caches=task.caches,
    )
