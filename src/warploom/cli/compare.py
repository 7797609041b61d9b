"""``warploom compare``: designs x workloads, side by side."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from warploom.base.errors import WarploomError
from warploom.cli.figure_options import (
    Csv,
    FigureWidth,
    FontSize,
    Latex,
    NoProvenance,
    check_form,
    print_in_form,
    setting,
)
from warploom.cli.option_groups import with_groups
from warploom.cli.output import message, print_json, progress_bar
from warploom.cli.run import report_faults
from warploom.cli.run_options import AS_USUAL, Jobs, RunOptions


@with_groups(how=RunOptions)
def command(
    workloads: Annotated[
        str, typer.Option(help="Workloads, sets and recordings (.wlr), with commas.")
    ] = "vectoradd,matrixmul,reduction",
    designs: Annotated[str | None, typer.Option(help="Named designs, with commas.")] = None,
    design: Annotated[list[str] | None, typer.Option(help="A design as text or .toml file. Repeatable.")] = None,
    how: RunOptions = AS_USUAL,
    jobs: Jobs = 0,
    out: Annotated[Path | None, typer.Option(help="Draw the comparison: .png, .svg, .pdf or .html.")] = None,
    width: FigureWidth = None,
    font_size: FontSize = None,
    no_provenance: NoProvenance = False,
    csv: Csv = False,
    latex: Latex = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: a list with one result per workload and design.")] = False,
) -> int:
    """Compare designs on workloads: time, occupancy, energy by part, size. The first design is what others are compared with."""
    from warploom.designs import parse_design
    from warploom.jit.announcement import announce_compilation
    from warploom.programs.named import chosen_programs, origin_named
    from warploom.runs.batch import run_all
    from warploom.runs.provenance import described
    from warploom.runs.result import Result
    from warploom.show.charts import check_picture_name
    from warploom.show.comparison import comparison_table, draw_comparison

    check_form(csv, latex, json)
    set_as = setting(width, font_size, no_provenance)
    chip = how.load()
    if out is not None:
        check_picture_name(out)
    texts = [*(designs.split(",") if designs else ()), *(design or ())]
    points = [parse_design(text) for text in texts or ["baseline", "oracle"]]
    names = [point.name for point in points]
    for name in names:
        if names.count(name) > 1:
            raise WarploomError(f"design {name!r} is asked for twice")
    programs = [origin_named(name) for name in chosen_programs([workloads])]
    announce_compilation()
    message(f"comparing designs: {len(points)}, on workloads: {len(programs)}")
    specs = [how.spec(program, point, chip) for program in programs for point in points]
    done: dict[int, Result] = {}
    with progress_bar(len(specs), "comparing") as step:
        for place, result in run_all(specs, jobs or os.cpu_count() or 1):
            done[place] = result
            step(result.workload)
    results = [done[place] for place in range(len(specs))]
    if out is not None:
        draw_comparison(results, out, set_as)
        message(f"wrote {out}")
    if json:
        print_json([result.to_dict() for result in results])
    else:
        for table in comparison_table(results, in_sections=not (csv or latex)):
            print_in_form(table, csv, latex)
    if not (json or csv or latex):
        print(described([result.provenance for result in results]))
    return report_faults(results)
