"""How fast launches on `hopper` are timed, with their set-up and without.

    python scripts/hopper_speed.py [--size small] [--only vectoradd,sgemm]

Times the launches that were measured on an H200 (`validation/h200`), each on a chip of its own as `warploom validate` does, the
better of two runs. Set-up is everything but the loop over cycles: records, tables of the code, what is gathered in the end.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from typing import Any

from warploom.core.simulate import Simulation
from warploom.designs import parse_design
from warploom.emulator.emulator import ExecutedLaunch
from warploom.machines import load_machine
from warploom.programs.named import program_named
from warploom.simulation.compilation import physical, shrunk
from warploom.simulation.execution import Executions, execute
from warploom.validation.programs import CODE
from warploom.validation.recorded import folder_of, read_launches

MACHINE, DESIGN = load_machine("hopper"), parse_design("modern")


def seconds_of(launch: ExecutedLaunch) -> tuple[float, float]:
    """Processor time of a launch, and that of its loop over cycles."""
    assert launch.trace is not None
    inside = 0.0
    started = time.process_time()
    simulation = Simulation(DESIGN.policies, physical(MACHINE, DESIGN), architected=shrunk(MACHINE, DESIGN))
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


def main() -> None:
    """Print a line for each launch, and one for all."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", default="small")
    options.add_argument("--only", default="", help="programs, with commas")
    asked = options.parse_args()
    chosen: dict[str, list[tuple[str, int]]] = {}
    for one in read_launches(folder_of("h200"))[1]:
        if one.size == asked.size and (not asked.only or one.program in asked.only.split(",")):
            chosen.setdefault(one.program, []).append((one.kernel, one.launch))
    launches, instructions, whole, loop = 0, 0, 0.0, 0.0
    for name, numbers in chosen.items():
        program = program_named(name, CODE)
        seen: Counter[str] = Counter()
        for launch in execute(program, DESIGN, MACHINE, asked.size, Executions(), launches=tuple(sorted(numbers))).launches:
            kernel, number = launch.code.name, seen[launch.code.name]
            seen[kernel] += 1
            if (kernel, number) not in numbers:
                continue
            total, inside = min(seconds_of(launch) for _ in range(2))
            count = launch.stats.warp_instructions
            spent = f"{count / total / 1e6:.2f} million a second, {1e3 * (total - inside):.1f} ms of set-up"
            print(f"{name} {kernel} {number}: {count:,} warp instructions, {spent}", flush=True)
            launches, instructions, whole, loop = launches + 1, instructions + count, whole + total, loop + inside
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{launches} launches of {instructions:,} warp instructions, {1e3 * (whole - loop) / launches:.1f} ms of set-up each")
    print(f"{instructions / whole / 1e6:.2f} million a second, {instructions / loop / 1e6:.2f} without set-up; {peak:.0f} MB")


if __name__ == "__main__":
    main()
