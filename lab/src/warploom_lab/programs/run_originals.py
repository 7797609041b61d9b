"""Runs recordings of original programs in the places of our workloads in RegMutex's and RFV's figures, and keeps what comes out.

warploom exec --emulate-only --record originals/hotspot3d.wlr -- ./3D 192 8 2 power temp out   # each named after a workload
warploom-lab run-originals originals

Recordings hold programs of others and stay outside; the two tables in docs/lab/originals are what the pages are written from:
numbers.tsv has the papers' numbers from the originals and from our workloads, programs.tsv what each program is like. A number of
which a program is missing is not there.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from warploom.papers.regmutex.figures import LIMITED, LIMITS, OTHERS, SUFFIX, WIDE
from warploom.papers.regmutex.figures import MACHINE as REGMUTEX
from warploom.papers.regmutex.figures import SMS as REGMUTEX_SMS
from warploom.papers.rfv.figures import BASELINE, HALF, SPILL, WHOLE
from warploom.papers.rfv.figures import MACHINE as RFV
from warploom.papers.rfv.figures import SMS as RFV_SMS
from warploom.programs.named import origin_named
from warploom.programs.replay import is_recording
from warploom.programs.workloads.registry import workload_set
from warploom.runs.compilation import compile_for
from warploom.runs.engine import Asked
from warploom.runs.result import Result
from warploom.runs.spec import RunSpec
from warploom.runs.store import Store
from warploom.runs.workers import local_workers
from warploom.studies.reproduce.experiment import Results, run_named
from warploom.studies.reproduce.reproduce import recordings_in, reproduce, runs_of, scorecard, select, unrecorded
from warploom_lab import CHECKOUT

TABLES = CHECKOUT / "docs" / "lab" / "originals"
CODES = {REGMUTEX: ("sm_75", "ptx"), RFV: ("ptx",)}
FIGURES = {REGMUTEX: ("figure 7", "figure 8", "figure 9", "figure 12"), RFV: ("figure 10", "figure 11")}
PARTS = [(paper, code, place) for paper, places in FIGURES.items() for code in CODES[paper] for place in places]
SIZE = "small"
Row = dict[str, Any]


def numbers_of(of: str, programs: Mapping[str, str], store: Store, jobs: int) -> Iterator[Row]:
    """Our value of each published number, where no program is missing; figure after figure, because they take long."""
    for paper, code, place in PARTS:
        selected = select(paper, place)
        wanted = Asked(runs_of(selected, SIZE, code, programs), store)
        if programs and (lacking := unrecorded(wanted.specs)):
            print(f"{paper}, {place}: no recording of {', '.join(lacking)}")
            continue
        for score in scorecard(list(reproduce(selected, SIZE, wanted, jobs, lambda _: None, code, programs))):
            yield {"id": score.fact.full_id, "code": code, "of": of, "value": f"{score.ours:.4g}"}


def runs_of_program(paper: str, name: str) -> dict[str, RunSpec]:
    """The runs that say what a program is like under a paper's designs, by column; made as its figures do."""
    if paper == RFV:
        designs = {"": BASELINE, "renamed": WHOLE, "GPU-shrink": HALF, "compiler spill": SPILL}
        return {column: run_named(name, design, RFV, SIZE, sms=RFV_SMS[SIZE]) for column, design in designs.items()}
    share = "" if name in LIMITED else SUFFIX
    designs = {"": "baseline", "half the file": f"baseline{SUFFIX}", "regmutex": f"regmutex{share}", "twice the file": "baseline"}
    limit = f" + max_registers={LIMITS[name]}" if name in LIMITS else ""
    return {
        column: run_named(name, design + limit, WIDE if column == "twice the file" else REGMUTEX, SIZE, sms=REGMUTEX_SMS[SIZE])
        for column, design in designs.items()
        if column != "half the file" or share
    }


def programs_table(recordings: Mapping[str, str], store: Store, jobs: int) -> list[Row]:
    """What each original and the workload of its name are like, and the cycles that a paper's designs add to them, in percent."""
    sets = {REGMUTEX: (*LIMITED, *OTHERS), RFV: workload_set(RFV)}
    asked = [
        (
            paper,
            name,
            code,
            program,
            {column: _as(run, program, code) for column, run in runs.items()},
        )
        for paper, names in sets.items()
        for name in names
        if name in recordings
        for runs in (runs_of_program(paper, name),)
        for code in CODES[paper]
        for program in (name, recordings[name])
    ]
    results = results_of([run for *_, runs in asked for run in runs.values()], store, jobs)
    return [
        {
            "paper": paper,
            "program": name,
            "of": "originals" if is_recording(program) else "workloads",
            "code": code,
            **traits(results[runs[""]]),
            **added({column: results[run].cycles for column, run in runs.items()}),
        }
        for paper, name, code, program, runs in asked
    ]


def _as(run: RunSpec, program: str, code: str) -> RunSpec:
    return replace(run, program=origin_named(program), code=code)


def results_of(runs: Sequence[RunSpec], store: Store, jobs: int) -> Results:
    """The results of some runs, made where they are not stored."""
    asked = Asked(runs, store)
    with local_workers(min(jobs, len(runs))) as workers:
        asked.make(workers)
    return dict(zip(asked.specs, asked.results, strict=True))


def main_registers(result: Result) -> int:
    """The registers of the kernel that executes most instructions, over all its launches."""
    work: Counter[str] = Counter()
    for launch in result.launches:
        work[launch.kernel] += launch.warp_instructions
    spec = result.spec
    module = spec.program.open(spec.code, spec.seed).module()
    return compile_for(module, work.most_common(1)[0][0], spec.design, spec.machine).registers


def traits(result: Result) -> Row:
    """What a program is like without any technique. Waves are the CTAs of a launch over those that are resident."""
    counters, instructions, launches = result.counters, result.warp_instructions, len(result.launches)
    idle = counters["stall_cycles"]
    kinds = ("global_loads", "global_stores", "local_loads", "local_stores", "atomics", "texture_loads")
    memory = sum(counters[kind] for kind in kinds)
    return {
        "registers": main_registers(result),
        "CTAs": counters["ctas"],
        "launches": launches,
        "CTAs/SM": result.ctas_per_sm,
        "waves": f"{counters['ctas'] / launches / result.ctas_per_sm / result.spec.machine.chip.sms:.1f}",
        "instructions": instructions,
        "idle at barriers %": f"{100 * idle['barrier'] / max(1, sum(idle.values())):.1f}",
        "memory %": f"{100 * memory / instructions:.1f}",
        "instructions/cycle": f"{result.ipc:.2f}",
    }


def added(cycles: Mapping[str, int]) -> Row:
    """Percent of cycles that each run has more than the one without a name; GPU-shrink more than renaming on the whole file."""
    reference = {"GPU-shrink": cycles.get("renamed", cycles[""])}
    return {
        column: f"{100 * (value / reference.get(column, cycles['']) - 1):.2f}"
        for column, value in cycles.items()
        if column not in ("", "renamed")
    }


def write_table(name: str, rows: Sequence[Row]) -> None:
    """A table of tab-separated columns, of all rows' columns in the order in which they come."""
    columns: Iterable[str] = dict.fromkeys(column for row in rows for column in row)
    TABLES.mkdir(parents=True, exist_ok=True)
    with (TABLES / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Run what is not stored, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="recordings, named after workloads")
    parser.add_argument("--out", type=Path, default=Path("results"), help="the folder of stored runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    recordings, store = recordings_in(options.folder), Store(options.out / "runs")
    write_table("programs.tsv", programs_table(recordings, store, options.jobs))
    numbers: list[Row] = []
    for of, programs in (("originals", recordings), ("workloads", {})):
        for number in numbers_of(of, programs, store, options.jobs):
            numbers.append(number)
            write_table("numbers.tsv", numbers)


if __name__ == "__main__":
    main()
