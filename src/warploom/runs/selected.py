"""Chosen launches of a program, each with the counters of its memory, as profilers show them of a real GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

from warploom.base.errors import WarploomError
from warploom.chip.memory import memory_counters
from warploom.chip.result import TimingResult, finish_counters, merge
from warploom.chip.simulate import Simulation
from warploom.chip.tables import Tables
from warploom.emulator.emulator import ExecutedLaunch
from warploom.runs.compilation import physical, shrunk
from warploom.runs.execution import Execution
from warploom.runs.spec import LaunchNumber, RunSpec


def time_alone(execution: Execution, spec: RunSpec) -> TimingResult:
    """Time the chosen launches, each on a chip whose caches are empty.

    The result is of all of them together, and ``launches`` has each with its memory's counters.
    """
    design, chosen, check = spec.design, spec.launches, spec.registers_watched
    built, architected = physical(spec.machine, design), shrunk(spec.machine, design)
    tables: Tables | None = None
    results, launches = [], []
    for name, executed in _numbered(execution, chosen):
        if name not in chosen or executed.trace is None:
            continue
        core = Simulation(design.policies, built, check=check, architected=architected, tables=tables)
        tables = core.tables
        core.launch(executed.code, executed.trace)
        core.drain()
        result = core.result()
        results.append(result)
        launches.append(result.launches[0] | _about(name, executed, memory_counters(core.memory[0], core.ports)))
    widest = max(results, key=lambda result: result.warp_instructions)
    counters = finish_counters(reduce(merge, (result.counters for result in results)), design.policies)
    return TimingResult(
        cycles=sum(result.cycles for result in results),
        warp_instructions=counters["warp_instructions"],
        counters=counters,
        occupancy=widest.occupancy,
        ctas_per_sm=widest.ctas_per_sm,
        limited_by=widest.limited_by,
        registers_per_thread=widest.registers_per_thread,
        launches=launches,
    )


def time_in_turn(execution: Execution, spec: RunSpec) -> TimingResult:
    """Time a program's launches up to the last chosen one, as they follow each other on one chip with warm caches.

    The result is of all that were timed; its ``launches`` has the chosen ones, each with its own share of its memory's counters.
    """
    chosen, built = spec.launches, physical(spec.machine, spec.design)
    architected = shrunk(spec.machine, spec.design)
    core = Simulation(spec.design.policies, built, check=spec.registers_watched, architected=architected)
    launches: list[dict[str, Any]] = []
    before: dict[str, int] = {}
    for name, executed in _numbered(execution, chosen):
        assert executed.trace is not None
        core.launch(executed.code, executed.trace, copied=executed.copied)
        core.drain()
        counted = memory_counters(core.memory[0], core.ports)
        if name in chosen:
            memory = {counter: number - before.get(counter, 0) for counter, number in counted.items()}
            launches.append(core.launches[-1] | _about(name, executed, memory))
        before = counted
        if len(launches) == len(chosen):
            break
    return replace(core.result(), launches=launches)


def _about(name: LaunchNumber, executed: ExecutedLaunch, memory: dict[str, int]) -> dict[str, Any]:
    """What is told of a chosen launch besides its time."""
    return {"launch": name[1], "issued_thread_instructions": executed.stats.issued_thread_instructions, "memory": memory}


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
