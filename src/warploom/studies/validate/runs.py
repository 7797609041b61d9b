"""Simulating what was measured: workloads through the engine that stores and resumes, small kernels on the spot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from warploom.base.errors import WarploomError
from warploom.chip.machines import Machine
from warploom.chip.result import TimedLaunch
from warploom.designs import parse_design
from warploom.programs.named import origin_named
from warploom.runs.caches import COLD
from warploom.runs.engine import Asked
from warploom.runs.kinds import kind_of
from warploom.runs.simulate import simulate
from warploom.runs.spec import RunSpec
from warploom.runs.store import Store
from warploom.runs.workers import Workers
from warploom.studies.validate.benchmark import Microbenchmark, ModelRun
from warploom.studies.validate.compare import Compared, compared
from warploom.studies.validate.programs import CODE, described_program, launches_named, microbenchmark_program
from warploom.studies.validate.recorded import SINGLE_SIZES, MeasuredLaunch, MeasuredNumber

Step = Callable[[str], None]


def specs_of(
    measured: Iterable[MeasuredLaunch], machine: Machine, design: str, caches: str = COLD
) -> dict[tuple[str, str], RunSpec]:
    """One run for each workload and size: the launches that were measured of it."""
    chosen: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for launch in measured:
        if launch.size not in SINGLE_SIZES:
            chosen.setdefault((launch.program, launch.size), []).append((launch.kernel, launch.launch))
    point = parse_design(design)

    def spec(program: str, size: str, launches: Iterable[tuple[str, int]]) -> RunSpec:
        origin, chosen = origin_named(program), tuple(sorted(launches))
        return RunSpec(origin, point, machine, size, code=CODE, caches=caches, launches=chosen)

    return {(program, size): spec(program, size, launches) for (program, size), launches in chosen.items()}


def run_kernels(
    measured: Sequence[MeasuredLaunch], machine: Machine, design: str, store: Store, workers: Workers, kernels: Path, step: Step,
    refused: Callable[[str, WarploomError], None], caches: str = COLD,
) -> list[Compared]:  # fmt: skip
    """Every measured launch beside ours; a program that the model refuses is told of and left out."""
    specs = specs_of(measured, machine, design, caches)
    asked = Asked(specs.values(), store)
    asked.make(
        workers,
        lambda spec: step(f"{spec.program.name} {spec.size}"),
        lambda spec, error: refused(f"{spec.program.name} {spec.size}", error),
    )
    ours: dict[tuple[str, str, str, int | None], tuple[TimedLaunch, str]] = {}
    for (program, size), result in zip(specs, asked.loaded(), strict=True):
        if result is not None:
            kind = kind_of(result)
            ours |= {(program, size, launch.kernel, launch.launch): (launch, kind) for launch in result.launches}
    for one in measured:
        if one.size in SINGLE_SIZES:
            try:
                described = described_program(kernels, one.program)
                run = simulate(described, design, machine, launches=((one.kernel, one.launch),), caches=caches)
                ours[one.program, one.size, one.kernel, one.launch] = run.launches[0], kind_of(run)
            except WarploomError as error:
                refused(one.program, error)
            step(one.program)
    keys = {one: (one.program, one.size, one.kernel, one.launch) for one in measured}
    return [compared(one, *ours[key]) for one, key in keys.items() if key in ours]


def run_numbers(
    benchmarks: Iterable[Microbenchmark], measured: Sequence[MeasuredNumber], machine: Machine, design: str, step: Step,
    refused: Callable[[str, WarploomError], None],
) -> list[tuple[MeasuredNumber, float]]:  # fmt: skip
    """The microbenchmarks' numbers beside ours, of those that whole launches can show."""
    known = {number.name: number for number in measured}
    found = []
    for benchmark in benchmarks:
        run = benchmark.model
        if run is not None and run.reading in known:
            try:
                found.append((known[run.reading], _modelled(benchmark, run, machine, design)))
            except WarploomError as error:
                refused(benchmark.name, error)
            step(benchmark.name)
    return found


def _modelled(benchmark: Microbenchmark, run: ModelRun, machine: Machine, design: str) -> float:
    launches = launches_named(benchmark.launches())
    number = run.added
    for sign, name, reps in run.terms:
        launch = launches[name]
        program = microbenchmark_program(launch, reps)
        result = simulate(program, design, machine, launches=((launch.kernel, 0),))
        (timed,) = result.launches
        number += sign * ((timed.memory or {})[run.counter] if run.counter else result.cycles)
    return number / run.work
