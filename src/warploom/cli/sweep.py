"""``warploom sweep``: a plan of many runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warploom.base.cores import use_threads
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
from warploom.cli.output import message, plain_table, print_json, progress_bar
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run import EXIT_WRONG_OUTPUT
from warploom.cli.run_options import Jobs, PolicyFiles, Scheduler, Threads, load_policies

if TYPE_CHECKING:
    from collections import Counter

    from warploom.studies.sweep.sweep import Sweep

SHOWN_ROWS = 40
_SHOWN = {  # heading: measure, its unit in the measure's, how it is written
    "cycles": ("cycles", 1, ",.0f"),
    "IPC": ("ipc", 1, ".2f"),
    "energy nJ": ("energy_pj.total", 1000, ",.0f"),
}


def command(
    plan: Annotated[Path, typer.Argument(help="The plan, a .toml file.", metavar="PLAN.toml")],
    out: Annotated[Path, typer.Option(help="The folder of stored runs and tables. Several processes may share it.")] = Path(
        "results/sweep"
    ),
    jobs: Jobs = 0,
    threads: Threads = 0,
    scheduler: Scheduler = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the summary: .png, .svg, .pdf or .html.")] = None,
    width: FigureWidth = None,
    font_size: FontSize = None,
    no_provenance: NoProvenance = False,
    csv: Csv = False,
    latex: Latex = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many runs, how long, how much disk.")] = False,
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: the summary, or with --dry-run what is to be done.")] = False,
) -> int:
    """Run every combination of a plan that makes sense. Runs are kept: after an interruption it continues."""
    from warploom.base.errors import WarploomError
    from warploom.jit.announcement import announce_compilation
    from warploom.show.charts import check_picture_name
    from warploom.show.sweep import draw_summary
    from warploom.studies.sweep.sweep import RESULTS, hire, make, prepare

    check_form(csv, latex, json)
    set_as = setting(width, font_size, no_provenance)
    if picture is not None:
        check_picture_name(picture, "--picture")
    use_threads(threads)
    load_papers(paper)
    load_policies(policy)
    if out.exists() and not out.is_dir():
        raise WarploomError(f"--out {out}: it is a file; name a folder")
    planned = prepare(plan, out)
    if dry_run:
        return _say_what_is_to_be_done(planned, jobs, json)
    missing = planned.missing()
    message(f"{_runs(len(planned.points))}, {len(planned.points) - len(missing):,} of them stored in {planned.store.folder}")
    _say(planned.skipped, "left out")
    announce_compilation()
    with progress_bar(len(missing), "running") as step, hire(jobs, scheduler if missing else None) as workers:
        make(planned, workers, lambda spec: step(f"{spec.program.name} {spec.design.name}"))
    _say(planned.refused, "refused")
    table = planned.table()
    summary = planned.summary(table).to_dict("records")
    if not summary:
        raise WarploomError(f"{plan}: all of its runs were refused; there is no table of them")
    if json:
        print_json(summary)
    else:
        _print_summary(summary, csv, latex)
        message(f"wrote {out / RESULTS}, one row a run")
    if picture is not None:
        draw_summary(summary, picture, set_as)
        message(f"wrote {picture}")
    wrong = planned.wrong_outputs(table)
    for name in wrong:
        message(f"error: {name}: the output differs from the reference")
    return EXIT_WRONG_OUTPUT if wrong else 0


def _say_what_is_to_be_done(planned: Sweep, jobs: int, json: bool) -> int:
    import os

    from warploom.runs.timings import COMPILATION_SECONDS

    expected, processes = planned.expectation(), jobs or os.cpu_count() or 1
    if json:
        known = {"runs": len(planned.points), "stored": len(planned.points) - expected.runs, "to_run": expected.runs}
        cost = {"seconds_of_one_process": expected.seconds, "bytes": expected.bytes, "untimed": expected.untimed}
        print_json({**known, **cost, "combinations": expected.combinations, "skipped": dict(planned.skipped)})
        return 0
    stored = len(planned.points) - expected.runs
    print(f"{_runs(len(planned.points))}, {stored:,} of them stored, {expected.runs:,} to make")
    _say(planned.skipped, "left out")
    if expected.runs and (expected.seconds is None or expected.bytes is None):
        print("how long and how much disk is not known: no run of this kind has been made on this machine")
    elif expected.runs and expected.seconds is not None and expected.bytes is not None:
        together = expected.seconds / processes
        workers = "one process" if processes == 1 else f"{processes} processes"
        print(f"about {_duration(together)} on {workers}, {_size(expected.bytes)} of results")
        if expected.untimed:
            print(f"of a kind that was never timed here, and counted as the median of the others: {expected.untimed:,}")
    if expected.runs:
        longest = _duration(expected.combinations * COMPILATION_SECONDS)
        print(f"combinations of policies: {expected.combinations:,}; to compile those that are new takes up to {longest}")
    return 0


def _say(reasons: Counter[str], what: str) -> None:
    for reason, number in reasons.most_common():
        message(f"{what}, {number:,}: {reason}")


def _print_summary(rows: list[dict[str, Any]], csv: bool, latex: bool) -> None:
    """The rows of the summary, on a terminal the first: what varies, and measures with their intervals."""
    from warploom.studies.sweep.summary import varying_axes

    if not rows:
        return
    varying = varying_axes(rows)
    shown = rows if csv or latex else rows[:SHOWN_ROWS]
    table = plain_table(*varying, "runs", *_SHOWN, numbers_from=len(varying))
    table.padding = (0, 1, 0, 0)
    for column in table.columns[len(varying) :]:  # a narrow terminal folds names, not numbers
        column.no_wrap = True
    for row in shown:
        where = (_on_axis(row.get(name)) for name in varying)
        table.add_row(*where, str(row["runs"]), *(_with_interval(row, *shown) for shown in _SHOWN.values()))
    print_in_form(table, csv, latex)
    if len(rows) > len(shown):
        message(f"and {len(rows) - len(shown):,} rows more in the folder's summary.parquet")


def _with_interval(row: dict[str, Any], measure: str, unit: float, form: str) -> str:
    half = row[f"{measure} ±"]
    return format(row[measure] / unit, form) + ("" if _absent(half) else f" ± {format(half / unit, form)}")


def _on_axis(value: Any) -> str:
    """A value of an axis. Whole numbers come as floats in a column in which some rows have none."""
    if _absent(value):
        return "-"
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _absent(value: Any) -> bool:
    return value is None or value != value


def _runs(number: int) -> str:
    return "1 run" if number == 1 else f"{number:,} runs"


def _size(bytes_: float) -> str:
    return f"{bytes_ / 1e6:,.1f} MB" if bytes_ >= 1e5 else f"{bytes_ / 1e3:,.0f} KB"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{max(1, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
