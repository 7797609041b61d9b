"""Write docs/lab/code.md: every workload in code of our backend (PTX) and in NVIDIA's machine code, side by side.

warploom-lab write-code-table [--code sm_90]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from statistics import median

from warploom.chip.machines import load_machine
from warploom.designs import design
from warploom.programs.program import workload_program
from warploom.programs.source import PTX
from warploom.programs.workloads.registry import workload_names
from warploom.runs.execution import Executions
from warploom.runs.simulate import simulate
from warploom_lab import CHECKOUT

PAGE = CHECKOUT / "docs" / "lab" / "code.md"
HEAD = """# Our backend's code and NVIDIA's machine code

Written by `warploom-lab write-code-table`, not by hand. Each workload (size tiny, machine `gtx480` with one SM, design
`baseline`) in code that our backend makes of its PTX and in the machine code that ptxas makes of it for {code}. Outputs were
compared with the references in both. *Registers* are per thread, of the kernel that asks for most; *occupancy* is the share of
the SM's warps that are resident; *live* is the share of allocated registers whose values are still needed, over the run;
*instructions* are those of the kernels that are launched; *growth* is what the release flags of `rfv` add to them.

A GTX480 has no uniform registers, which NVIDIA's code from sm_75 on uses for values that all lanes of a warp share. On a
machine whose `sm.uniform_registers` is 0 these values are therefore kept in registers of the thread: each in one that is free
while it lives, or in a further one where none is. They count in *registers* and *occupancy*, and their reads and writes are
those of any other register; uniform predicates become predicates, and instructions of the uniform datapath are executed for
each lane in the units of their kind. Under a limit (`max_registers`) NVIDIA's compiler is asked for fewer registers until both
kinds together keep to it; below 24 it does not go.

"""
NUMBERS = ("registers", "occupancy", "live", "instructions", "growth")


@dataclass(frozen=True)
class Measured:
    """One workload in one code."""

    registers: int
    occupancy: float
    live: float
    instructions: int
    growth: float


def measure(name: str, code: str) -> Measured:
    """Run a workload and look at the code of its launches."""
    machine = load_machine("gtx480").scaled(1)
    executions = Executions()
    result = simulate(workload_program(name, code), "baseline", machine, size="tiny", executions=executions)
    if not result.verified:
        raise SystemExit(f"{name}: in {code} its output differs from the reference")
    (execution,) = executions.made.values()
    kernels = {launch.code.name: launch.code for launch in execution.launches}
    plain = sum(map(len, kernels.values()))
    flagged = sum(len(design("rfv").policies.allocation.compile(kernel, machine)) for kernel in kernels.values())
    registers = max(kernel.registers for kernel in kernels.values())
    return Measured(registers, result.occupancy, result.counters["live_fraction"], plain, flagged / plain - 1)


def cells(ours: Measured, theirs: Measured) -> str:
    """Both codes, number by number."""
    pairs = (
        (f"{ours.registers:g}", f"{theirs.registers:g}"),
        (f"{ours.occupancy:.0%}", f"{theirs.occupancy:.0%}"),
        (f"{ours.live:.0%}", f"{theirs.live:.0%}"),
        (f"{ours.instructions:g}", f"{theirs.instructions:g}"),
        (f"{ours.growth:.0%}", f"{theirs.growth:.0%}"),
    )
    return " | ".join(number for pair in pairs for number in pair)


def middle(measured: list[Measured]) -> Measured:
    """The median of each number."""
    return Measured(*(median(getattr(one, name) for one in measured) for name in Measured.__dataclass_fields__))


def main() -> None:
    """Measure all workloads in both codes and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--code", default="sm_90")
    code = parser.parse_args().code
    rows = []
    for name in workload_names():
        rows.append((name, measure(name, PTX), measure(name, code)))
        print(f"{name}: {cells(*rows[-1][1:])}", flush=True)
    lines = [f"| {name} | {cells(ours, theirs)} |" for name, ours, theirs in rows]
    lines.append(f"| *median* | {cells(middle([row[1] for row in rows]), middle([row[2] for row in rows]))} |")
    columns = " | ".join(f"{number}: PTX | {code}" for number in NUMBERS)
    table = [f"| workload | {columns} |", "| --- |" + " ---: |" * 2 * len(NUMBERS), *lines]
    PAGE.write_text(HEAD.format(code=code) + "\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
