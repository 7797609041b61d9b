"""Write docs/reference/workloads.md: every workload as the papers give it and as it runs here.

warploom-lab write-workload-table [--size small]
warploom-lab write-workload-table --originals   # only the part on original programs, of what `warploom-lab run-originals` kept
"""

from __future__ import annotations

import argparse
import csv
from typing import Any

from warploom.chip.machines import load_machine
from warploom.designs import parse_design
from warploom.programs.program import Kernels, workload_program
from warploom.programs.workloads.registry import load_workload, workload_names
from warploom.runs.compilation import compile_for
from warploom.runs.traits import describe_workload
from warploom_lab import CHECKOUT

PAGE = CHECKOUT / "docs" / "reference" / "workloads.md"
KEPT = CHECKOUT / "docs" / "lab" / "originals" / "programs.tsv"
MACHINE_CODE = "sm_75"
HEAD = """# The workloads

Written by `warploom-lab write-workload-table`, not by hand: sizes are `{size}`, registers are per thread after our
backend, CTAs per SM on machine `gtx480`, counts over all launches. *Divergent* is the share of warp instructions that not all of
the warp's threads execute. A workload is in the set of each paper that it names; `-` where the paper gives no number.

Sizes (`--size`): `tiny` is for tests, `small` has a CTA for each of 15 SMs, `paper` is as large as the papers' inputs where
that is affordable. `chip` has a CTA for each of 132 SMs, two where that is affordable, in the kernels with most of the
instructions: 33 workloads have it at `paper` already and take the same inputs; the others have larger ones, 2 to 67 million
warp instructions: bfs-queue, heartwall, lavamd, lib, lps, matrixmul, mri-q, nbody (most bodies are tracers without a mass,
else it would be 166 million), neuralnet, nw, particlefilter, radixsort, reduction, scalarprod, streamcluster and tpacf.

| workload | what it computes | papers: registers, CTAs/SM | registers | CTAs/SM | threads | instructions | divergent | lanes |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""
REGISTERS = f"""
## Registers, theirs and ours

Of the kernel with most instructions, for workloads of which a paper gives a number. In brackets: the fewest that need no spill
(RFV's table has that number too). *Backend* is our own compiler, {MACHINE_CODE} today's NVIDIA compiler; the papers' programs
were compiled for compute capability 1.3, whose code has 32-bit addresses and takes operands from shared memory.

| workload | rfv | regmutex | backend | {MACHINE_CODE} |
| --- | ---: | ---: | ---: | ---: |
"""
SHAPED = """
## Where a kernel was shaped

These kernels were given a shape of their own so that they use registers as a paper's table says, which a program named after
another one should not need.

| workload | its own shape, and its namesake's |
| --- | --- |
"""

ORIGINALS_HEADING = "## Originals of the same names"
ORIGINALS = f"""
{ORIGINALS_HEADING}

What the programs that RegMutex and RFV name are like ([programs.md](programs.md#the-originals-of-two-papers)), and in brackets
our workloads of these names: without any technique, RegMutex's as NVIDIA's code (sm_75) on three SMs, RFV's as our backend's on
two. Registers are of the kernel with most instructions, CTAs/SM of the busiest launch, and *waves* the CTAs of a launch,
on average, over those that are resident. *Memory* is the share of instructions that go to device memory, *barriers* the share of
idle issue slots whose warps wait there, *all fit* the cycles saved when the file is twice as large. The last column names what is
far off: {{far}}.

| workload | paper | registers | CTAs/SM | waves | instructions | memory, % | barriers, % | IPC | all fit, % | far off |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
"""
CODES = {"regmutex": "sm_75", "rfv": "ptx"}  # what each paper's figures execute
FAR = {  # by column: its name in the table, the factor and the difference by which both a workload and its original must differ
    "registers": ("registers", 1.25, 3),
    "memory %": ("memory", 2, 3),
    "idle at barriers %": ("barriers", 2, 10),
    "instructions/cycle": ("IPC", 2, 0.3),
}


def published(row: dict[str, Any]) -> str:
    """What the papers say of a workload."""
    parts = [f"{item['paper']}: {item.get('registers', '-')}, {item.get('ctas_per_sm', '-')}" for item in row["published"]]
    return "; ".join(parts)


def line(row: dict[str, Any]) -> str:
    """One workload."""
    counted = f"{row['warp_instructions']:,} | {row['divergent_share']:.1%} | {row['average_active_lanes']:.1f}"
    launch = f"{row['registers']} | {row['ctas_per_sm']} | {row['threads_per_cta']}"
    return f"| {row['name']} | {row['title']} | {published(row)} | {launch} | {counted} |"


def compiled_registers(module: Kernels, kernel: str) -> str:
    """What a compiler takes when it may, and the fewest that it needs."""
    machine = load_machine("gtx480")
    usual, least = (
        compile_for(module, kernel, parse_design(text), machine).registers for text in ("baseline", "max_registers=least")
    )
    return f"{usual} ({least})"


def registers_line(row: dict[str, Any]) -> str | None:
    """A workload's registers in the papers and here; None if no paper says."""
    theirs = {item["paper"]: item for item in row["published"] if "registers" in item}
    if not theirs:
        return None
    cells = []
    for paper in ("rfv", "regmutex"):
        item = theirs.get(paper, {})
        least = f" ({item['least']})" if "least" in item else ""
        cells.append(f"{item['registers']}{least}" if item else "-")
    program = workload_program(row["name"])
    modules = (program.module(), program.source.kernels(MACHINE_CODE))
    return f"| {row['name']} | " + " | ".join([*cells, *(compiled_registers(each, row["kernel"]) for each in modules)]) + " |"


def originals() -> str:
    """The part on original programs."""
    with KEPT.open(encoding="utf-8", newline="") as file:
        rows = {
            (row["paper"], row["program"], row["of"]): row
            for row in csv.DictReader(file, delimiter="\t")
            if CODES[row["paper"]] == row["code"]
        }
    rule = "; ".join(f"{name} by a factor of {factor:g} and by more than {least:g}" for name, factor, least in FAR.values())
    pairs = [(row, rows[paper, name, "workloads"]) for (paper, name, of), row in rows.items() if of == "originals"]
    return ORIGINALS.format(far=rule) + "".join(originals_line(*pair) for pair in pairs)


def originals_line(theirs: dict[str, str], ours: dict[str, str]) -> str:
    """An original and the workload of its name."""
    cells = [theirs["program"], theirs["paper"]]
    for column in ("registers", "CTAs/SM", "waves", "instructions", "memory %", "idle at barriers %", "instructions/cycle"):
        cells.append(f"{theirs[column]} ({ours[column]})")
    wide = "twice the file"
    cells.append(f"{-float(theirs[wide]):.1f} ({-float(ours[wide]):.1f})" if theirs[wide] else "-")
    far = [name for column, (name, *limits) in FAR.items() if is_far(float(theirs[column]), float(ours[column]), *limits)]
    return "| " + " | ".join([*cells, ", ".join(far)]) + " |\n"


def is_far(one: float, other: float, factor: float, least: float) -> bool:
    """Whether two numbers differ by a factor, and by more than what may be chance."""
    return abs(one - other) > least and max(one, other) >= factor * min(one, other)


def main() -> None:
    """Describe all workloads and write the page, or its last part alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="small")
    parser.add_argument("--originals", action="store_true", help="write the part on original programs alone")
    options = parser.parse_args()
    if options.originals:
        before = PAGE.read_text(encoding="utf-8").partition(ORIGINALS_HEADING)[0].rstrip("\n")
        PAGE.write_text(before + "\n" + originals(), encoding="utf-8")
        return
    size = options.size
    machine = load_machine("gtx480")
    rows = [describe_workload(name, size, machine) for name in workload_names()]
    registers = [text for text in map(registers_line, rows) if text]
    shaped = [f"| {name} | {load_workload(name).shaped} |" for name in workload_names() if load_workload(name).shaped]
    parts = [HEAD.format(size=size), *map(line, rows), REGISTERS.rstrip("\n"), *registers, SHAPED.rstrip("\n"), *shaped]
    PAGE.write_text(parts[0] + "\n".join(parts[1:]) + "\n" + originals(), encoding="utf-8")


if __name__ == "__main__":
    main()
