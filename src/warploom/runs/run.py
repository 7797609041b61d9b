"""A run, from the value that says what is asked for to its result: compile, execute, verify, time, account."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from warploom.chip.observers import make_observers
from warploom.chip.result import TimingResult, states_over_time
from warploom.chip.simulate import Progress, Receive
from warploom.designs import storage_bits
from warploom.designs.energy import load_technology, power_over_time
from warploom.jit.announcement import seconds_compiling
from warploom.runs.accounting import Executed, accounted, run_facts, timed_kernels
from warploom.runs.caches import COLD
from warploom.runs.execution import Execution, Executions, run_program
from warploom.runs.provenance import provenance_of
from warploom.runs.result import Emulation, Result
from warploom.runs.selected import core_of, time_alone, time_in_turn
from warploom.runs.spec import RunSpec


@dataclass(frozen=True)
class Watch:
    """Who looks on while a run is timed; nobody changes anything of it. Chosen launches are not watched.

    ``observers`` are given by name or made; what they saw is in the result's ``observed``. ``receive`` takes events while the run
    goes on, instead of the result: it is called with the observer's name, the code that runs and a list of them. ``executed`` is
    called with what was executed, before any of it is timed.
    """

    observers: Sequence[Any] = ()
    receive: Receive | None = None
    progress: Progress | None = None
    executed: Callable[[Execution], None] | None = None


NOBODY = Watch()


def run(spec: RunSpec, watch: Watch = NOBODY, executions: Executions | None = None) -> Result:
    """Make a run. ``executions`` keeps what has been executed, for a caller that runs a program under several designs."""
    clock = Clock()
    spec = spec.settled
    execution = (executions if executions is not None else Executions()).of(spec)
    if watch.executed is not None:
        watch.executed(execution)
    return result_of(_timed(execution, spec, watch), spec, _judgement(execution), clock)


@dataclass(frozen=True)
class Judgement:
    """Whether a program's output was right, and what checks have found."""

    verified: bool | None = None
    doubt: str = ""
    findings: tuple[str, ...] = ()


def _judgement(execution: Execution) -> Judgement:
    return Judgement(execution.verified, execution.doubt, tuple(map(str, execution.findings)))


def result_of(timing: TimingResult, spec: RunSpec, judged: Judgement, clock: Clock) -> Result:
    """The result of a settled run whose launches were timed."""
    table, facts = load_technology(spec.technology), run_facts(timing.cycles, spec.design, spec.machine)
    energy = accounted(timing.counters, spec.design, table, facts)
    return Result(
        provenance=provenance_of(spec),
        verified=judged.verified,
        doubt=judged.doubt,
        findings=judged.findings,
        cycles=timing.cycles,
        warp_instructions=timing.warp_instructions,
        ipc=timing.ipc,
        occupancy=timing.occupancy,
        ctas_per_sm=timing.ctas_per_sm,
        registers_per_thread=timing.registers_per_thread,
        register_file_bytes=facts.register_file_bytes,
        counters=timing.counters,
        energy_pj=energy.picojoules(),
        storage_bits=storage_bits(spec.design, facts.machine),
        wall_seconds=clock.seconds,
        compile_seconds=clock.compiling,
        launches=tuple(timing.launches),
        kernels=timed_kernels(timing.kernels, spec.design, spec.machine, table),
        energy_terms=energy.terms,
        power=power_over_time(timing.samples, energy, table, facts),
        states=states_over_time(timing.samples, facts.cycle_time),
        observed=timing.observed,
    )


class Clock:
    """How long a run takes from now on, without what is compiled for it, and how long that takes."""

    def __init__(self) -> None:
        self._started, self._compiled = time.perf_counter(), seconds_compiling()

    @property
    def compiling(self) -> float:
        """Seconds that went into compiling."""
        return seconds_compiling() - self._compiled

    @property
    def seconds(self) -> float:
        """Seconds that went into everything else."""
        return time.perf_counter() - self._started - self.compiling


class RunOnce:
    """Makes runs of one program, each once; equal ones may differ in the names of their designs."""

    def __init__(self, watch: Watch = NOBODY) -> None:
        self._watch = watch
        self.executions = Executions()
        self._made: dict[RunSpec, Result] = {}

    def __call__(self, spec: RunSpec) -> Result:
        """The result of a run."""
        if spec not in self._made:
            self._made[spec] = run(spec, self._watch, self.executions)
        return self._made[spec].under_name_of(spec.design)


def run_untimed(spec: RunSpec, executions: Executions | None = None) -> Emulation:
    """Execute a run's program without timing it, and compare its output with the reference."""
    clock = Clock()
    spec = spec.settled
    program = (executions if executions is not None else Executions()).program(spec)
    execution = run_program(program, spec, record=False)
    executed = Executed()
    for launch in execution.launches:
        executed.add(launch)
    return emulation_of(executed, spec, _judgement(execution), clock)


def emulation_of(executed: Executed, spec: RunSpec, judged: Judgement, clock: Clock) -> Emulation:
    """The result of a settled run whose launches were only executed."""
    return Emulation(
        provenance=provenance_of(spec),
        verified=judged.verified,
        doubt=judged.doubt,
        findings=judged.findings,
        warp_instructions=executed.warp_instructions,
        thread_instructions=executed.thread_instructions,
        kernels=executed.kernels,
        wall_seconds=clock.seconds,
        compile_seconds=clock.compiling,
    )


def _timed(execution: Execution, spec: RunSpec, watch: Watch) -> TimingResult:
    """Time the launches that are asked for: all, one after the other, or the chosen ones."""
    if spec.launches:
        return (time_alone if spec.caches == COLD else time_in_turn)(execution, spec)
    core = core_of(spec, observers=make_observers(watch.observers), receive=watch.receive)
    for launch, trace in execution.traced():
        core.launch(launch.code, trace, watch.progress, None if spec.caches == COLD else launch.copied)
    return core.result()
