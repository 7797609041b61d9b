"""``warploom compare``: designs x workloads, side by side."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from warploom.cli.code_option import Code, check_given
from warploom.cli.machine_options import MachineName, Overrides, Sms
from warploom.cli.output import message, print_json, progress_bar, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run import report_wrong_outputs
from warploom.cli.run_options import Caches, Check, Jobs, MaxInstructions, PolicyFiles, Size, Technology, load_policies
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.errors import WarploomError


def command(
    workloads: Annotated[
        str, typer.Option(help="Workloads, sets and recordings (.wlr), with commas.")
    ] = "vectoradd,matrixmul,reduction",
    designs: Annotated[str | None, typer.Option(help="Named designs, with commas.")] = None,
    design: Annotated[list[str] | None, typer.Option(help="A design as text or .toml file. Repeatable.")] = None,
    machine: MachineName = "gtx480",
    size: Size = "small",
    code: Code = None,
    technology: Technology = None,
    caches: Caches = "cold",
    check: Check = False,
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    override: Overrides = None,
    sms: Sms = None,
    max_instructions: MaxInstructions = DEFAULT_BUDGET,
    jobs: Jobs = 0,
    out: Annotated[Path | None, typer.Option(help="Draw the comparison: .png, .svg or .html.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: a list with one result per workload and design.")] = False,
) -> int:
    """Compare designs on workloads: time, occupancy, energy by part, size. The first design is what others are compared with."""
    from warploom.cli.machine_options import chosen_machine
    from warploom.designs import parse_design
    from warploom.jit.announcement import announce_compilation
    from warploom.programs.named import chosen_programs
    from warploom.report.charts import check_picture_name
    from warploom.report.comparison import comparison_table, draw_comparison
    from warploom.simulation.batch import run_tasks
    from warploom.simulation.caches import check_caches
    from warploom.simulation.provenance import described
    from warploom.simulation.result import Result
    from warploom.simulation.task import Task
    from warploom.workloads.program import check_size

    load_papers(paper)
    check_size(size)
    check_caches(caches)
    check_given(code)
    if out is not None:
        check_picture_name(out)
    load_policies(policy)
    texts = [*(designs.split(",") if designs else ()), *(design or ())]
    points = [parse_design(text) for text in texts or ["baseline", "oracle"]]
    names = [point.name for point in points]
    for name in names:
        if names.count(name) > 1:
            raise WarploomError(f"design {name!r} is asked for twice")
    programs = chosen_programs([workloads])
    announce_compilation()
    message(f"comparing designs: {len(points)}, on workloads: {len(programs)}")
    chip = chosen_machine(machine, override or (), sms)
    asked = (chip, size, technology, check, max_instructions, code or chip.code)
    tasks = [Task(name, point.to_dict(), *asked, caches=caches) for name in programs for point in points]
    done: dict[int, Result] = {}
    with progress_bar(len(tasks), "comparing") as step:
        for place, result in run_tasks(tasks, jobs or os.cpu_count() or 1):
            done[place] = result
            step(tasks[place].workload)
    results = [done[place] for place in range(len(tasks))]
    if out is not None:
        draw_comparison(results, out)
        message(f"wrote {out}")
    if json:
        print_json([result.to_dict() for result in results])
    else:
        console = results_console()
        for table in comparison_table(results):
            console.print(table)
        print(described([result.provenance for result in results if result.provenance]))
    return report_wrong_outputs(results)
