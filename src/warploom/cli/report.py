"""``warploom report``: designs and combinations on common ground, as one page."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warploom.cli.code_option import Code, check_given
from warploom.cli.machine_options import MachineName
from warploom.cli.output import message, progress_bar, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import Check, Jobs, PolicyFiles, Scheduler, Size, load_policies
from warploom.errors import WarploomError

if TYPE_CHECKING:
    from warploom.report.profile import KernelProfile


def command(
    workloads: Annotated[str, typer.Option(help="Workloads and sets, with commas.")] = "hotspot,bfs,lib,matrixmul",
    designs: Annotated[
        str | None, typer.Option(help="Named designs, with commas; else all published ones and their limits.")
    ] = None,
    design: Annotated[list[str] | None, typer.Option(help="Also this design, as text or .toml file. Repeatable.")] = None,
    combinations: Annotated[bool, typer.Option(help="Also the combinations of published designs.")] = True,
    machine: MachineName = "gtx480",
    size: Size = "small",
    code: Code = None,
    technology: Annotated[str, typer.Option(help="One energy table for all designs.")] = "common",
    check: Check = False,
    policy: PolicyFiles = None,
    paper: PaperFolders = None,
    hot_spots: Annotated[
        bool, typer.Option(help="Also run the first design once more to see what each instruction costs.")
    ] = True,
    jobs: Jobs = 0,
    scheduler: Scheduler = None,
    results: Annotated[Path, typer.Option(help="The folder of stored runs and of the scorecard.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The page.")] = Path("results/report.html"),
) -> int:
    """Run designs and their combinations on common ground and write the report: one page that needs no network."""
    from warploom.papers.experiment import Run
    from warploom.papers.runs import tasks_of
    from warploom.programs.named import chosen_programs
    from warploom.report.assemble import assemble, read_scores
    from warploom.report.combinations import COMBINATIONS, published_designs
    from warploom.report.comparison import comparison_table
    from warploom.report.page import write_page
    from warploom.simulation.provenance import described
    from warploom.simulation.result import result_from_dict
    from warploom.sweeps.engine import load_results, missing, perform
    from warploom.sweeps.store import Store
    from warploom.sweeps.sweep import hire
    from warploom.workloads.program import check_size

    load_papers(paper)
    check_size(size)
    asked = check_given(code) or ""
    if out.suffix.lower() != ".html":
        raise WarploomError(f"--out {out}: the page's name must end in .html")
    load_policies(policy)
    names = designs.split(",") if designs else published_designs()
    texts = list(dict.fromkeys([*names, *(design or ()), *(COMBINATIONS if combinations else ())]))
    programs = chosen_programs([workloads])
    runs = [Run(name, text, machine, size, technology, check, asked) for name in programs for text in texts]
    store = Store(results / "runs")
    tasks = tasks_of(runs)
    to_make = missing(tasks, store)
    with progress_bar(len(to_make), "running") as step, hire(jobs, scheduler if to_make else None) as workers:
        perform(tasks, store, workers, lambda task: step(f"{task.workload} {task.design['name']}"))
    loaded = [result_from_dict(result) for result in load_results(tasks, store)]
    out.parent.mkdir(parents=True, exist_ok=True)
    profiles = _profiles(programs, asked, texts[0], machine, size, technology) if hot_spots else {}
    page = assemble(loaded, COMBINATIONS, read_scores(results), profiles, "warploom " + shlex.join(sys.argv[1:]))
    write_page(page, out)
    console = results_console()
    console.print(comparison_table(loaded)[-1])
    print(described([result.provenance for result in loaded if result.provenance]))
    for sentence in page.findings:
        console.print(sentence)
    message(f"the report is in {out.resolve()}")
    return 0


def _profiles(
    programs: Sequence[str], code: str, design: str, machine: str, size: str, technology: str
) -> dict[str, list[KernelProfile]]:
    """What each instruction of the workloads costs under one design."""
    from warploom.designs import parse_design
    from warploom.machines import load_machine
    from warploom.programs.named import program_named
    from warploom.report.profile import profile
    from warploom.simulation.simulate import simulate

    found, point, chip = {}, parse_design(design), load_machine(machine)
    with progress_bar(len(programs), "profiling") as step:
        for name in programs:
            step(name, 0)
            program = program_named(name, code or chip.code)
            watched = simulate(program, point, chip, size=size, technology=technology, observers=["hot-spots"])
            found[watched.workload] = profile(watched)
            step(name)
    return found
