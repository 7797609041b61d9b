"""``warploom report``: designs and combinations on common ground, as one page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from warploom.cli.code_option import Code, check_given
from warploom.cli.output import message, progress_bar, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.errors import WarploomError


def command(
    workloads: Annotated[str, typer.Option(help="Workloads and sets, with commas.")] = "hotspot,bfs,lib,matrixmul",
    designs: Annotated[
        str | None, typer.Option(help="Named designs, with commas; else all published ones and their limits.")
    ] = None,
    design: Annotated[list[str] | None, typer.Option(help="Also this design, as text or .toml file. Repeatable.")] = None,
    combinations: Annotated[bool, typer.Option(help="Also the combinations of published designs.")] = True,
    machine: Annotated[str, typer.Option(help="A machine's name or .toml file.")] = "gtx480",
    size: Annotated[str, typer.Option(help="tiny, small or paper.")] = "small",
    code: Code = None,
    technology: Annotated[str, typer.Option(help="One energy table for all designs.")] = "common",
    check: Annotated[bool, typer.Option("--check", help="Let the shadow checker watch every register access.")] = False,
    policy: Annotated[list[str] | None, typer.Option(help="Also load policies from this file.", metavar="FILE")] = None,
    paper: PaperFolders = None,
    jobs: Annotated[int, typer.Option(help="Processes; 0: one for each core.", min=0)] = 0,
    results: Annotated[Path, typer.Option(help="The folder of stored runs and of the scorecard.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The page.")] = Path("results/report.html"),
) -> int:
    """Run designs and their combinations on common ground and write the report: one page that needs no network."""
    from warploom.papers.experiment import Run
    from warploom.papers.runs import tasks_of
    from warploom.programs.named import chosen_programs
    from warploom.register_file import load_policy_file
    from warploom.report.assemble import assemble, read_scores
    from warploom.report.combinations import COMBINATIONS, SHOWN, published_designs
    from warploom.report.comparison import comparison_table
    from warploom.report.page import write_page
    from warploom.simulation.provenance import described
    from warploom.simulation.result import result_from_dict
    from warploom.simulation.workers import local_workers
    from warploom.sweeps.engine import load_results, missing, perform
    from warploom.sweeps.store import Store
    from warploom.workloads.program import check_size

    load_papers(paper)
    check_size(size)
    asked = check_given(code) or ""
    if out.suffix.lower() != ".html":
        raise WarploomError(f"--out {out}: the page's name must end in .html")
    for file in policy or ():
        load_policy_file(file)
    names = designs.split(",") if designs else published_designs()
    texts = list(dict.fromkeys([*names, *(design or ()), *(COMBINATIONS if combinations else ())]))
    programs = chosen_programs([workloads])
    runs = [Run(name, text, machine, size, technology, check, asked) for name in programs for text in texts]
    store = Store(results / "runs")
    tasks = tasks_of(runs)
    with (
        progress_bar(len(missing(tasks, store)), "running", estimate=True) as step,
        local_workers(jobs or os.cpu_count() or 1) as workers,
    ):
        perform(tasks, store, workers, lambda task: step(f"{task.workload} {task.design['name']}"))
    loaded = [result_from_dict(result) for result in load_results(tasks, store)]
    out.parent.mkdir(parents=True, exist_ok=True)
    page = assemble(loaded, COMBINATIONS, SHOWN, read_scores(results))
    write_page(page, out)
    console = results_console()
    console.print(comparison_table(loaded)[-1])
    print(described([result.provenance for result in loaded if result.provenance]))
    for sentence in page.findings:
        console.print(sentence)
    message(f"the report is in {out.resolve()}")
    return 0
