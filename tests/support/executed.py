"""Programs executed without timing them, as a run would execute them."""

from __future__ import annotations

from dataclasses import replace

from warploom.chip.machines import Machine
from warploom.designs import Design
from warploom.programs.program import Program
from warploom.runs.execution import Execution, Executions, run_program
from warploom.runs.live import ProgramRun
from warploom.runs.simulate import spec_of
from warploom.runs.spec import REGISTERS


def executed(program: Program, design: Design, machine: Machine, size: str, *, check: bool = False) -> Execution:
    """The execution of a program without traces."""
    spec = replace(spec_of(program, design, machine, size), check=(REGISTERS,) if check else ())
    return run_program(program, spec.settled, record=False)


def traced(
    program: Program, design: Design, machine: Machine, size: str, executions: Executions | None = None, *, check: bool = False
) -> Execution:
    """The execution of a program with its traces, or one that was made before."""
    spec = replace(spec_of(program, design, machine, size), check=(REGISTERS,) if check else ()).settled
    known = executions if executions is not None else Executions()
    known.take(program, spec)
    return known.of(spec)


def kernels_of(run: ProgramRun) -> set[str]:
    """The names of the kernels that a process has launched."""
    return {total.kernel for total in run.result().kernels}
