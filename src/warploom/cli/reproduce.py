"""``warploom reproduce``: a paper's figures and tables, ours beside theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warploom.base.cores import use_threads
from warploom.base.errors import WarploomError
from warploom.base.library.shelves import expected_names
from warploom.cli.code_option import Code, check_given
from warploom.cli.figure_options import FigureWidth, FontSize, NoProvenance, setting
from warploom.cli.output import message, narrow_table, print_json, progress_bar, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import Jobs, Scheduler, Size, Threads


def command(
    paper: Annotated[str, typer.Argument(help=f"{', '.join(expected_names())}, or all.")],
    figure: Annotated[int | None, typer.Option(help="Only this figure.", min=1)] = None,
    table: Annotated[int | None, typer.Option(help="Only this table.", min=1)] = None,
    size: Size = "small",
    code: Code = None,
    programs: Annotated[
        Path | None,
        typer.Option(help="A folder of your own recordings, named after workloads (hotspot.wlr): they are run in their places."),
    ] = None,
    jobs: Jobs = 0,
    threads: Threads = 0,
    scheduler: Scheduler = None,
    out: Annotated[Path, typer.Option(help="The folder for pictures, tables and stored runs.")] = Path("results"),
    pictures: Annotated[str, typer.Option(help="Format of the pictures: png, svg, pdf or html.")] = "png",
    width: FigureWidth = None,
    font_size: FontSize = None,
    no_provenance: NoProvenance = False,
    folders: PaperFolders = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: a list of published numbers with ours.")] = False,
) -> int:
    """Reproduce figures and tables. Runs are kept in the folder: after an interruption it continues from there."""
    from warploom.programs.program import check_size
    from warploom.runs.engine import Asked
    from warploom.runs.provenance import described
    from warploom.runs.store import Store
    from warploom.show.charts import PICTURES
    from warploom.show.reproduction import SCORE_HEADINGS, score_rows, tally_lines, write_reproduction, write_results
    from warploom.studies.reproduce.reproduce import recordings_in, reproduce, runs_of, scorecard, select, unrecorded

    use_threads(threads)
    load_papers(folders)
    check_size(size)
    check_given(code)
    set_as = setting(width, font_size, no_provenance)
    if f".{pictures}" not in PICTURES:
        raise WarploomError(f"--pictures {pictures}: choose png, svg, pdf or html")
    if figure is not None and table is not None:
        raise WarploomError("--figure and --table exclude each other; ask for one of them")
    place = f"figure {figure}" if figure is not None else f"table {table}" if table is not None else None
    selected = select(paper, place)
    if out.exists() and not out.is_dir():
        raise WarploomError(f"--out {out}: it is a file; name a folder")
    store = Store(out / "runs")
    recorded = recordings_in(programs) if programs is not None else {}
    wanted = Asked(runs_of(selected, size, code, recorded), store)
    if recorded and (lacking := unrecorded(wanted.specs)):
        message(f"no recording of {', '.join(lacking)}: our workloads are run in their places")
    missing = wanted.missing()
    if missing:
        message(f"{len(wanted.specs)} runs, {len(wanted.specs) - len(missing)} of them stored in {store.folder}")
    done = []
    with progress_bar(len(missing), "running") as step:
        made = reproduce(selected, size, wanted, jobs, lambda spec: step(spec.program.name), code, recorded, scheduler)
        for item in made:
            write_reproduction(item, out, set_as, pictures)
            done.append(item)
    for run in dict.fromkeys(run for item in done for run in item.unverified):
        message(f"warning: {run}: the output differs from the reference; its numbers are still used")
    scores = scorecard(done)
    write_results(wanted, scores, out)
    if json:
        print_json([score.to_dict() for score in scores])
    else:
        console = results_console()
        if scores:
            narrow_table(console, SCORE_HEADINGS, score_rows(scores))
            for line in tally_lines(scores):
                console.print(line)
        else:
            console.print("The paper has no number here that ours could be compared with.")
        print(described([each for item in done for each in item.made_from]))
        message(f"wrote {out}")
    return 0
