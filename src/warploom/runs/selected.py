"""Chosen launches of a program, each with the counters of its memory, as profilers show them of a real GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from warploom.base.errors import WarploomError
from warploom.chip.memory import memory_counters
from warploom.chip.result import TimedLaunch, TimingResult, joined
from warploom.chip.simulate import Simulation
from warploom.chip.tables import Tables
from warploom.emulator.emulator import ExecutedLaunch
from warploom.runs.compilation import physical, shrunk
from warploom.runs.execution import Execution
from warploom.runs.spec import LaunchNumber, RunSpec


def core_of(spec: RunSpec, **options: Any) -> Simulation:
    """An empty chip for a run; ``options`` are further ones of `Simulation`."""
    built, architected = physical(spec.machine, spec.design), shrunk(spec.machine, spec.design)
    return Simulation(spec.design.policies, built, check=spec.registers_watched, architected=architected, **options)


def time_alone(execution: Execution, spec: RunSpec) -> TimingResult:
    """Time the chosen launches, each on a chip whose caches are empty.

    The result is of all of them together, and ``launches`` has each with its memory's counters.
    """
    tables: Tables | None = None
    results, launches = [], []
    for name, executed in _numbered(execution, spec.launches):
        if name not in spec.launches or executed.trace is None:
            continue
        core = core_of(spec, tables=tables)
        tables = core.tables
        core.launch(executed.code, executed.trace)
        core.drain()
        result = core.result()
        results.append(result)
        launches.append(_told(result.launches[0], name, executed, memory_counters(core.memory[0], core.ports)))
    return replace(joined(results, spec.design.policies), launches=launches)


def time_in_turn(execution: Execution, spec: RunSpec) -> TimingResult:
    """Time a program's launches up to the last chosen one, as they follow each other on one chip with warm caches.

    The result is of all that were timed; its ``launches`` has the chosen ones, each with its own share of its memory's counters.
    """
    core, chosen = core_of(spec), spec.launches
    launches: list[TimedLaunch] = []
    before: dict[str, int] = {}
    for name, executed in _numbered(execution, chosen):
        assert executed.trace is not None
        core.launch(executed.code, executed.trace, copied=executed.copied)
        core.drain()
        counted = memory_counters(core.memory[0], core.ports)
        if name in chosen:
            memory = {counter: number - before.get(counter, 0) for counter, number in counted.items()}
            launches.append(_told(core.launches[-1], name, executed, memory))
        before = counted
        if len(launches) == len(chosen):
            break
    return replace(core.result(), launches=launches)


def _told(timed: TimedLaunch, name: LaunchNumber, executed: ExecutedLaunch, memory: dict[str, int]) -> TimedLaunch:
    """A chosen launch with what is told of it besides its time."""
    issued = executed.stats.issued_thread_instructions
    return replace(timed, launch=name[1], issued_thread_instructions=issued, memory=memory)


def _numbered(execution: Execution, chosen: Collection[LaunchNumber]) -> Iterator[tuple[LaunchNumber, ExecutedLaunch]]:
    """The launches of a program by their numbers; an error at once where one of the chosen is not among them."""
    made = Counter(executed.code.name for executed in execution.launches)
    for kernel, number in chosen:
        if number >= made[kernel]:
            raise WarploomError(f"kernel {kernel}: the program makes no launch {number} of it (it makes {made[kernel]}).")
    seen: Counter[str] = Counter()
    for executed in execution.launches:
        kernel = executed.code.name
        yield (kernel, seen[kernel]), executed
        seen[kernel] += 1
