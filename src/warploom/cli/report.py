"""``warploom report``: designs and combinations on common ground, as one page."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warploom.base.errors import WarploomError
from warploom.cli.option_groups import with_groups
from warploom.cli.output import message, print_table, progress_bar, results_console
from warploom.cli.run_options import AS_USUAL, Jobs, RunOptions, Scheduler

if TYPE_CHECKING:
    from warploom.runs.spec import RunSpec
    from warploom.show.profile import KernelProfile


@with_groups(how=RunOptions)
def command(
    workloads: Annotated[
        str, typer.Option(help="Workloads and sets, with commas.", show_default="hotspot, bfs, lib, matrixmul")
    ] = "hotspot,bfs,lib,matrixmul",
    designs: Annotated[
        str | None, typer.Option(help="Named designs, with commas; else all published ones and their limits.")
    ] = None,
    design: Annotated[list[str] | None, typer.Option(help="Also this design, as text or .toml file. Repeatable.")] = None,
    combinations: Annotated[bool, typer.Option(help="Also the combinations of published designs.")] = True,
    how: RunOptions = AS_USUAL,
    hot_spots: Annotated[
        bool, typer.Option(help="Also run the first design once more to see what each instruction costs.")
    ] = True,
    jobs: Jobs = 0,
    scheduler: Scheduler = None,
    results: Annotated[Path, typer.Option(help="The folder of stored runs and of the scorecard.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The page.")] = Path("results/report.html"),
) -> int:
    """Run designs and their combinations on common ground and write the report: one page that needs no network."""
    from warploom.designs import parse_design
    from warploom.programs.named import chosen_programs, origin_named
    from warploom.runs.engine import Asked
    from warploom.runs.provenance import described
    from warploom.runs.spec import COMMON_TECHNOLOGY
    from warploom.runs.store import Store
    from warploom.show.assemble import assemble, read_scores
    from warploom.show.combinations import COMBINATIONS, published_designs
    from warploom.show.comparison import comparison_table
    from warploom.show.page import write_page
    from warploom.studies.sweep.sweep import hire

    chip = how.load()
    if out.suffix.lower() != ".html":
        raise WarploomError(f"--out {out}: the page's name must end in .html")
    names = designs.split(",") if designs else published_designs()
    texts = list(dict.fromkeys([*names, *(design or ()), *(COMBINATIONS if combinations else ())]))
    programs, points = [origin_named(name) for name in chosen_programs([workloads])], [parse_design(text) for text in texts]
    specs = [how.spec(program, point, chip) for program in programs for point in points]
    if how.technology is None:
        specs = [spec.vary("technology", COMMON_TECHNOLOGY) for spec in specs]  # one table for all designs
    asked = Asked(specs, Store(results / "runs"))
    to_make = asked.missing()
    with progress_bar(len(to_make), "running") as step, hire(jobs, scheduler if to_make else None) as workers:
        asked.make(workers, lambda spec: step(f"{spec.program.name} {spec.design.name}"))
    loaded = asked.results
    out.parent.mkdir(parents=True, exist_ok=True)
    profiles = _profiles([spec for spec in specs if spec.design is points[0]]) if hot_spots else {}
    page = assemble(loaded, COMBINATIONS, read_scores(results), profiles, "warploom " + shlex.join(sys.argv[1:]))
    write_page(page, out)
    console = results_console()
    print_table(comparison_table(loaded)[-1])
    print(described([result.provenance for result in loaded]))
    for sentence in page.findings:
        console.print(sentence)
    message(f"the report is in {out.resolve()}")
    return 0


def _profiles(specs: Sequence[RunSpec]) -> dict[str, list[KernelProfile]]:
    """What each instruction of some runs' programs costs."""
    from warploom.runs.run import Watch, run
    from warploom.show.profile import profile

    found = {}
    with progress_bar(len(specs), "profiling") as step:
        for spec in specs:
            step(spec.program.name, 0)
            found[spec.program.name] = profile(run(spec, Watch(["hot-spots"])))
            step(spec.program.name)
    return found
