"""Launches of a program timed one by one, each on a chip whose caches are empty: what profilers show of a real GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import reduce

from warploom.core.memory import memory_counters
from warploom.core.result import TimingResult, finish_counters, merge
from warploom.core.simulate import Simulation
from warploom.core.tables import Tables
from warploom.designs import Design
from warploom.errors import WarploomError
from warploom.machines import Machine
from warploom.simulation.compilation import physical, shrunk
from warploom.simulation.execution import Execution

LaunchNumber = tuple[str, int]  # a kernel, and which of its launches, from 0


def time_alone(
    execution: Execution, chosen: Collection[LaunchNumber], design: Design, machine: Machine, check: bool
) -> TimingResult:
    """Time the chosen launches; the result is of all of them together, and ``launches`` has each with its memory's counters."""
    built, architected = physical(machine, design), shrunk(machine, design)
    tables: Tables | None = None
    seen: Counter[str] = Counter()
    results, launches = [], []
    for executed in execution.launches:
        name = executed.code.name
        number = seen[name]
        seen[name] += 1
        if (name, number) not in chosen or executed.trace is None:
            continue
        core = Simulation(design.policies, built, check=check, architected=architected, tables=tables)
        tables = core.tables
        core.launch(executed.code, executed.trace)
        core.drain()
        result = core.result()
        results.append(result)
        about = {"launch": number, "registers": result.registers_per_thread, "ctas_per_sm": result.ctas_per_sm}
        about["issued_thread_instructions"] = executed.stats.issued_thread_instructions
        launches.append(result.launches[0] | about | {"memory": memory_counters(core.memory[0], core.ports)})
    missing = [one for one in chosen if one not in {(row["kernel"], row["launch"]) for row in launches}]
    if missing:
        kernel, number = missing[0]
        raise WarploomError(f"kernel {kernel}: the program makes no launch {number} of it (it makes {seen[kernel]}).")
    widest = max(results, key=lambda result: result.warp_instructions)
    counters = finish_counters(reduce(merge, (result.counters for result in results)))
    for policy in design.policies:
        if hasattr(policy, "summary"):
            counters |= policy.summary(counters)
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
