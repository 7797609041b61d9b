"""Runs in Python: `simulate` and `emulate` make a `RunSpec` of what they are given, and run it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from warploom.base.checks import check_words
from warploom.chip.machines import Machine, load_machine
from warploom.chip.simulate import Progress, Receive
from warploom.designs import Design
from warploom.designs import design as make_design
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.emulator.turns import USUAL
from warploom.programs.named import origin_named
from warploom.programs.own import origin_of
from warploom.programs.program import Program, check_size
from warploom.programs.workloads.workload import Workload
from warploom.runs.caches import COLD
from warploom.runs.execution import Executions
from warploom.runs.result import Emulation, Result
from warploom.runs.run import Watch, run, run_untimed
from warploom.runs.spec import LaunchNumber, RunSpec


def simulate(
    program: Program | Workload | str,
    design: Design | str = "baseline",
    machine: Machine | str = "gtx480",
    *,
    size: str = "small",
    check: bool | str | Iterable[str] = (),
    order: str = USUAL,
    technology: str | None = None,
    max_instructions: int = DEFAULT_BUDGET,
    executions: Executions | None = None,
    observers: Sequence[Any] = (),
    receive: Receive | None = None,
    progress: Progress | None = None,
    launches: Sequence[LaunchNumber] = (),
    caches: str = COLD,
) -> Result:
    """Run a program under a design on a machine.

    ``check`` names what is watched (`warploom.base.checks`); True lets the shadow checker watch every register access. What
    races and memory checks find is in the result's ``findings``. ``technology`` names the energy table: without one it is the
    machine's own where there is a table of its name, else the common one. A launch that executes more than
    ``max_instructions`` warp instructions is stopped. ``executions`` keeps what has been executed, for a caller
    that runs a program under several designs. ``observers``, by name or made, watch the run and change nothing of it; what
    they saw is in the result's ``observed``. ``receive`` takes events while the run goes on, instead of the result: it is called
    with the observer's name, the code that runs and a list of them. ``caches`` is ``cold``, and L2 is empty when the program
    begins, or ``warm``, and it also holds what the host copies to the device. ``launches`` names the launches that are told
    of, and nothing watches them: cold, each is timed alone on a chip whose caches are empty; warm, as it follows those before
    it. Without it all are timed, one after the other.
    """
    spec = replace(
        spec_of(program, design, machine, size),
        check=check_words(check),
        order=order,
        technology=technology or "",
        budget=max_instructions,
        launches=tuple(launches),
        caches=caches,
    )
    known = executions if executions is not None else Executions()
    return run(spec, Watch(observers, receive, progress), _opened(program, spec, known))


def emulate(
    program: Program | Workload | str,
    design: Design | str = "baseline",
    machine: Machine | str = "gtx480",
    *,
    size: str = "small",
    check: bool | str | Iterable[str] = (),
    order: str = USUAL,
    max_instructions: int = DEFAULT_BUDGET,
) -> Emulation:
    """Execute a program without timing it, and compare its output with the reference.

    ``check`` names what is watched, as for `simulate`; registers are not accessed without timing. A launch
    that executes more than ``max_instructions`` warp instructions is stopped.
    """
    spec = replace(
        spec_of(program, design, machine, size),
        check=check_words(check),
        order=order,
        budget=max_instructions,
        timed=False,
    )
    return run_untimed(spec, _opened(program, spec, Executions()))


def spec_of(
    program: Program | Workload | str, design: Design | str = "baseline", machine: Machine | str = "gtx480", size: str = "small"
) -> RunSpec:
    """The run that is meant; a workload is run in the machine's usual code, a program that is open already as it is."""
    described = load_machine(machine) if isinstance(machine, str) else machine
    point = make_design(design)
    if isinstance(program, Program):
        return RunSpec(origin_of(program), point, described, check_size(size), program.seed, program.code)
    return RunSpec(origin_named(program if isinstance(program, str) else program.name), point, described, check_size(size))


def _opened(program: Program | Workload | str, spec: RunSpec, executions: Executions) -> Executions:
    """Executions that take a program as it was given, where it was."""
    if isinstance(program, Program):
        executions.take(program, spec.settled)
    return executions
