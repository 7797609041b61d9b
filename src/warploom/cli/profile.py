"""``warploom profile``: what each instruction of a program costs, and where one design loses time against another."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean
from warploom.cli.launch_options import NOTHING_SAID, LaunchOptions
from warploom.cli.option_groups import with_groups
from warploom.cli.output import message, print_json, progress_bar, results_console
from warploom.cli.run import report_faults
from warploom.cli.run_options import AS_USUAL, RunOptions

GROUPS = ("instruction", "line", "block", "loop")
_ORDER_NAMES = "time, stalls, issues, reads, writes, conflicts, upper, wakeups, encoded, energy or pc"


@with_groups(how=RunOptions, launch=LaunchOptions)
def command(
    target: Annotated[
        str,
        typer.Argument(help="A workload, a .cu, .ptx, .cubin or .fatbin file, or a recording (.wlr).", metavar="WORKLOAD|FILE"),
    ],
    design: Annotated[
        list[str] | None, typer.Option(help="A design; from the second on, also where it loses time against the first.")
    ] = None,
    by: Annotated[str, typer.Option(help="Rows for each instruction, line (of the source), block or loop.")] = "instruction",
    sort: Annotated[str, typer.Option(help=f"Order of the rows: {_ORDER_NAMES}.")] = "time",
    top: Annotated[int, typer.Option(help="Rows that are printed; 0: all. JSON has all.", min=0)] = 20,
    how: RunOptions = AS_USUAL,
    launch: LaunchOptions = NOTHING_SAID,
    out: Annotated[Path | None, typer.Option(help="Write a page with all of it.", metavar="PAGE.html")] = None,
    timeline: Annotated[
        Path | None, typer.Option(help="Write what happens over time as a trace for Perfetto.", metavar="RUN.pftrace")
    ] = None,
    pipeline: Annotated[
        Path | None, typer.Option(help="Write every stage of every instruction for Konata.", metavar="RUN.kanata")
    ] = None,
    sm: Annotated[int, typer.Option(help="SM whose warps the timeline and the pipeline show.", min=0)] = 0,
    warps: Annotated[str | None, typer.Option(help="Warps that the timeline and the pipeline show, such as 0,3,8-11.")] = None,
    cycles: Annotated[
        str | None,
        typer.Option(help="Cycles that the timeline and the pipeline show, such as 1000:3000; else the first 100,000 and 5,000."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: everything.")] = False,
) -> int:
    """Show what each instruction costs: issues, why warps and schedulers wait at it, register accesses, conflicts, energy."""
    from warploom.cli.profile_files import Watched
    from warploom.cli.profile_tables import print_comparison, print_profile
    from warploom.designs import parse_design
    from warploom.jit.announcement import announce_compilation
    from warploom.programs.named import origin_named
    from warploom.runs.execution import Executions
    from warploom.runs.provenance import described
    from warploom.runs.run import Watch, run
    from warploom.show.limits import error_lines
    from warploom.show.page import write_page
    from warploom.show.profile import ORDERS, profile, source_lines
    from warploom.show.profile_page import profile_page

    if out is not None and (out.suffix.lower() != ".html" or not out.resolve().parent.is_dir()):
        raise WarploomError(f"--out {out}: name a file that ends in .html, in a folder that is there")
    if by not in GROUPS:
        raise WarploomError(f"--by {by}: choose {', '.join(GROUPS[:-1])} or {GROUPS[-1]}")
    if sort not in ORDERS:
        raise WarploomError(f"--sort {sort}: choose {_ORDER_NAMES}{did_you_mean(sort, list(ORDERS))}")
    chip = how.load()
    points = [parse_design(text) for text in design or [chip.design]]
    origin = launch.own_kernel(target, how.code, chip.code) or origin_named(target)
    watched = Watched(timeline, pipeline, sm, warps, cycles, chip)
    if watched and len(points) > 1:
        raise WarploomError("a timeline or pipeline is of one run: name one --design")
    executions, results = Executions(), []
    announce_compilation()
    with progress_bar(len(points), "profiling") as step:
        for point in points:
            step(f"{origin.name} {point.name}", 0)
            with watched.files(f"{origin.name} under {point.name}") as receive:
                watch = Watch(["hot-spots", *watched.observers], receive)
                results.append(run(how.spec(origin, point, chip), watch, executions))
                watched.finish(results[-1])
            step()
    for note in watched.notes:
        message(note)
    profiles = [profile(result) for result in results]
    if out is not None:
        write_page(profile_page(results, profiles, "warploom " + shlex.join(sys.argv[1:])), out)
        message(f"wrote {out}")
    if json:
        values = []
        for result, kernels in zip(results, profiles, strict=True):
            values.append(result.to_dict() | {"profile": [kernel.to_dict() for kernel in kernels]})
            del values[-1]["observed"]  # of which the profile is made
        print_json(values if len(values) > 1 else values[0])
        return report_faults(results)
    console, lines = results_console(), source_lines(executions.program(results[0].spec))
    for result, kernels in zip(results, profiles, strict=True):
        print_profile(console, result, kernels, lines, by=by, sort=sort, top=top)
    for result, kernels in list(zip(results, profiles, strict=True))[1:]:
        print_comparison(console, results[0], profiles[0], result, kernels, top=top)
    for line in error_lines(results, min(console.width, 100)):
        print(line)
    print(described([result.provenance for result in results]))
    return report_faults(results)
