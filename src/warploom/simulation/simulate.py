"""From a program, a design and a machine to a result: compile, execute, verify, time, account."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from warploom.core.result import TimingResult, states_over_time
from warploom.core.simulate import Progress, Receive, Simulation
from warploom.designs import Design, storage_bits
from warploom.designs import design as make_design
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.energy import RunFacts, account, load_technology, power_over_time, technology_names
from warploom.machines import Machine, load_machine
from warploom.observers import make_observers
from warploom.programs.named import program_named
from warploom.simulation.caches import COLD, check_caches
from warploom.simulation.chosen import LaunchNumber, time_alone, time_in_turn
from warploom.simulation.compilation import physical, shrunk
from warploom.simulation.execution import Execution, Executions, execute, run_program
from warploom.simulation.provenance import provenance_of
from warploom.simulation.result import Emulation, Result
from warploom.workloads.program import Program, check_size
from warploom.workloads.workload import Workload

COMMON_TECHNOLOGY = "common"


def simulate(
    program: Program | Workload | str,
    design: Design | str = "baseline",
    machine: Machine | str = "gtx480",
    *,
    size: str = "small",
    check: bool = False,
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

    ``check`` lets the shadow checker watch every register access. ``technology`` names the energy table: without one it is the
    machine's own where there is a table of its name, else the common one. A launch that executes more than
    ``max_instructions`` warp instructions is stopped. ``executions`` keeps what has been executed, for a caller
    that runs a program under several designs. ``observers``, by name or made, watch the run and change nothing of it; what
    they saw is in the result's ``observed``. ``receive`` takes events while the run goes on, instead of the result: it is called
    with the observer's name, the code that runs and a list of them. ``caches`` is ``cold``, and L2 is empty when the program
    begins, or ``warm``, and it also holds what the host copies to the device. ``launches`` names the launches that are told
    of, and nothing watches them: cold, each is timed alone on a chip whose caches are empty; warm, as it follows those before
    it. Without it all are timed, one after the other.
    """
    started = time.perf_counter()
    described = load_machine(machine) if isinstance(machine, str) else machine
    program, point = _program(program, described), make_design(design)
    check_size(size)
    check_caches(caches)
    built = physical(described, point)
    known = executions if executions is not None else Executions()
    execution = execute(
        program,
        point,
        described,
        size,
        known,
        check=check,
        max_instructions=max_instructions,
        launches=tuple(launches) if caches == COLD else (),  # warm, those before them are timed too
    )
    if launches:
        timing = (time_alone if caches == COLD else time_in_turn)(execution, launches, point, described, check)
        program = replace(program, origin={**program.origin, "launches": [list(one) for one in launches]})
    else:
        timing = _time(execution, point, described, check, make_observers(observers), receive, progress, caches)
    table = load_technology(technology or default_technology(described))
    cycle_time = 1e-6 / built.chip.clock_energy_mhz
    run = RunFacts(timing.cycles, cycle_time, built.chip.sms, 4 * built.sm.registers_per_sm, point.policies, built)
    energy = account(timing.counters, point.policies, table, run)
    made_from = provenance_of(
        program,
        point,
        described,
        size=size,
        technology=table,
        technology_file=technology if technology and technology.endswith(".toml") else "",
        check=check,
        max_instructions=max_instructions,
        caches=caches,
    )
    return Result(
        workload=program.name,
        design=point.to_dict(),
        machine=made_from.machine["label"],
        size=size if program.sized else "",
        technology=made_from.technology["name"],
        verified=execution.verified,
        checked=check,
        cycles=timing.cycles,
        warp_instructions=timing.warp_instructions,
        ipc=timing.ipc,
        occupancy=timing.occupancy,
        ctas_per_sm=timing.ctas_per_sm,
        registers_per_thread=timing.registers_per_thread,
        register_file_bytes=run.register_file_bytes,
        counters=timing.counters,
        energy_pj=energy.picojoules(),
        storage_bits=storage_bits(point, built),
        wall_seconds=time.perf_counter() - started,
        kernels=timing.launches,
        energy_terms=energy.terms,
        power=power_over_time(timing.samples, energy, table, run),
        provenance=made_from,
        states=states_over_time(timing.samples, cycle_time),
        observed=timing.observed,
    )


def _time(
    execution: Execution,
    design: Design,
    machine: Machine,
    check: bool,
    observers: tuple[Any, ...],
    receive: Receive | None,
    progress: Progress | None,
    caches: str,
) -> TimingResult:
    """Time the launches of an execution one after the other."""
    built, architected = physical(machine, design), shrunk(machine, design)
    core = Simulation(design.policies, built, check=check, architected=architected, observers=observers, receive=receive)
    for launch, trace in execution.traced():
        core.launch(launch.code, trace, progress, None if caches == COLD else launch.copied)
    return core.result()


def emulate(
    program: Program | Workload | str,
    design: Design | str = "baseline",
    machine: Machine | str = "gtx480",
    *,
    size: str = "small",
    max_instructions: int = DEFAULT_BUDGET,
) -> Emulation:
    """Execute a program without timing it, and compare its output with the reference.

    A launch that executes more than ``max_instructions`` warp instructions is stopped.
    """
    started = time.perf_counter()
    described = load_machine(machine) if isinstance(machine, str) else machine
    program, point = _program(program, described), make_design(design)
    check_size(size)
    execution = run_program(program, point, described, size, record=False, check=False, budget=max_instructions)
    return Emulation(
        workload=program.name,
        size=size if program.sized else "",
        verified=execution.verified,
        warp_instructions=sum(launch.stats.warp_instructions for launch in execution.launches),
        thread_instructions=sum(launch.stats.thread_instructions for launch in execution.launches),
        wall_seconds=time.perf_counter() - started,
        provenance=provenance_of(
            program,
            point,
            described,
            size=size,
            technology=None,
            technology_file="",
            check=False,
            max_instructions=max_instructions,
        ),
    )


def default_technology(machine: Machine) -> str:
    """The energy table of a machine's own paper, or the common one."""
    return machine.name if machine.name in technology_names() else COMMON_TECHNOLOGY


def _program(program: Program | Workload | str, machine: Machine) -> Program:
    """The program that is meant; a workload is run in the machine's usual code."""
    if isinstance(program, Program):
        return program
    return program_named(program if isinstance(program, str) else program.name, machine.code)
