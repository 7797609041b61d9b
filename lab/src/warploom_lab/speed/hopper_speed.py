"""How fast launches and whole programs are timed on `hopper`, and how much memory they take.

    warploom-lab hopper-speed [--size small] [--only vectoradd,sgemm]
    warploom-lab hopper-speed --programs [--size small,paper,chip] [--only vectoradd,sgemm]

The first times the launches that were measured on an H200 (`lab/src/warploom_lab/devices/h200`), each on a chip of its own
as `warploom validate` does, the better of two runs. Set-up is everything but the loop over cycles: records, columns of the
trace, what is gathered in the end. Tables of the code are part of it, but the second run finds those of the first.

The second runs whole programs as `warploom run --machine hopper` does, each in a process of its own, because a process only tells
the most memory that it ever had. Executing is everything before the timing: inputs, emulation, traces, the reference; a tiny
program goes first, so that compiled code is there. The size chip is left out where it is the same as paper.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

from warploom.chip.machines import load_machine
from warploom.chip.simulate import Simulation
from warploom.chip.tables import Tables
from warploom.designs import parse_design
from warploom.emulator.emulator import ExecutedLaunch
from warploom.programs.named import origin_named
from warploom.programs.workloads.registry import load_workload, workload_names
from warploom.runs.compilation import physical, shrunk
from warploom.runs.execution import Executions
from warploom.runs.spec import RunSpec
from warploom.studies.validate.programs import CODE
from warploom.studies.validate.recorded import folder_of, read_launches

MACHINE, DESIGN = load_machine("hopper"), parse_design("modern")


def _chip(tables: Tables | None = None) -> Simulation:
    return Simulation(DESIGN.policies, physical(MACHINE, DESIGN), architected=shrunk(MACHINE, DESIGN), tables=tables)


def seconds_of(launch: ExecutedLaunch, tables: Tables) -> tuple[float, float]:
    """Processor time of a launch, and that of its loop over cycles."""
    assert launch.trace is not None
    inside = 0.0
    started = time.process_time()
    simulation = _chip(tables)
    loop = simulation.run_chip

    def timed(*arguments: Any) -> int:
        nonlocal inside
        begun = time.process_time()
        status = loop(*arguments)
        inside += time.process_time() - begun
        return status

    simulation.run_chip = timed
    simulation.launch(launch.code, launch.trace)
    simulation.drain()
    simulation.result()
    return time.process_time() - started, inside


def time_launches(size: str, only: list[str]) -> None:
    """Print a line for each launch, and one for all."""
    chosen: dict[str, list[tuple[str, int]]] = {}
    for one in read_launches(folder_of("h200"))[1]:
        if one.size == size and (not only or one.program in only):
            chosen.setdefault(one.program, []).append((one.kernel, one.launch))
    launches, instructions, whole, loop = 0, 0, 0.0, 0.0
    for name, numbers in chosen.items():
        spec = RunSpec(origin_named(name), DESIGN, MACHINE, size, code=CODE, launches=tuple(sorted(numbers)))
        seen: Counter[str] = Counter()
        tables = _chip().tables  # which the launches of a program share
        for launch in Executions().of(spec.settled).launches:
            kernel, number = launch.code.name, seen[launch.code.name]
            seen[kernel] += 1
            if (kernel, number) not in numbers:
                continue
            total, inside = min(seconds_of(launch, tables) for _ in range(2))
            count = launch.stats.warp_instructions
            spent = f"{count / total / 1e6:.2f} million a second, {1e3 * (total - inside):.1f} ms of set-up"
            print(f"{name} {kernel} {number}: {count:,} warp instructions, {spent}", flush=True)
            launches, instructions, whole, loop = launches + 1, instructions + count, whole + total, loop + inside
    print(f"{launches} launches of {instructions:,} warp instructions, {1e3 * (whole - loop) / launches:.1f} ms of set-up each")
    print(f"{instructions / whole / 1e6:.2f} million a second, {instructions / loop / 1e6:.2f} without set-up; {_peak():.0f} MB")


class Cost(NamedTuple):
    """What a whole program takes."""

    launches: int
    instructions: int
    executing: float  # seconds of processor time
    timing: float
    megabytes: float  # the most that the process had


def cost_of(name: str, size: str) -> Cost:
    """Run a program on a chip that is kept between its launches."""
    started = time.process_time()
    execution = Executions().of(RunSpec(origin_named(name), DESIGN, MACHINE, size, code=CODE).settled)
    executed = time.process_time()
    simulation = _chip()
    for launch, trace in execution.traced():
        simulation.launch(launch.code, trace)
    instructions = simulation.result().warp_instructions
    return Cost(len(execution.launches), instructions, executed - started, time.process_time() - executed, _peak())


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _cost_in_a_process(name: str, size: str) -> Cost:
    cost_of("vectoradd", "tiny")
    return cost_of(name, size)


def time_programs(sizes: list[str], only: list[str]) -> None:
    """Print a line for each program and size, and one for all: the slowest and the largest."""
    costs: dict[str, Cost] = {}
    for size in sizes:
        for name in only or workload_names():
            if size == "chip" and load_workload(name).sizes.chip is None:
                continue
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                cost = process.submit(_cost_in_a_process, name, size).result()
            costs[f"{name} {size}"] = cost
            of = f"{cost.instructions:,} warp instructions in {cost.launches} launches"
            speed = f"{_millions(cost.instructions, cost.timing)} million a second"
            executing = f"{_millions(cost.instructions, cost.timing + cost.executing)} with {cost.executing:.1f} s of executing"
            print(f"{name} {size}: {of}, {speed}, {executing}; {cost.megabytes:.0f} MB", flush=True)
    instructions, timing = sum(cost.instructions for cost in costs.values()), sum(cost.timing for cost in costs.values())
    slowest = min(costs, key=lambda one: costs[one].instructions / costs[one].timing)
    largest = max(costs, key=lambda one: costs[one].megabytes)
    print(f"{len(costs)} programs of {instructions:,} warp instructions, {_millions(instructions, timing)} million a second")
    print(f"slowest {slowest}, {_millions(costs[slowest].instructions, costs[slowest].timing)} million a second")
    print(f"largest {largest}, {costs[largest].megabytes:.0f} MB")


def _millions(count: int, seconds: float) -> str:
    return f"{count / seconds / 1e6:.2f}"


def main() -> None:
    """Read what is asked for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--programs", action="store_true", help="whole programs instead of the launches that were measured")
    options.add_argument("--size", default="small", help="of programs several, with commas")
    options.add_argument("--only", default="", help="programs, with commas")
    asked = options.parse_args()
    only = asked.only.split(",") if asked.only else []
    if asked.programs:
        time_programs(asked.size.split(","), only)
    else:
        time_launches(asked.size, only)


if __name__ == "__main__":
    main()
