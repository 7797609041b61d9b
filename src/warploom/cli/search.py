"""``warploom search``: designs that meet a goal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warploom.base.cores import use_threads
from warploom.cli.output import message, narrow_table, print_json, progress_bar, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import PolicyFiles, Scheduler, Threads, load_policies


def command(
    goal: Annotated[Path, typer.Argument(help="The goal, a .toml file.", metavar="GOAL.toml")],
    out: Annotated[Path, typer.Option(help="The folder of the search. Several processes may share it.")] = Path("results/search"),
    trials: Annotated[int | None, typer.Option(help="Number of designs to try; overrides the goal's `trials`.", min=1)] = None,
    constraint: Annotated[
        list[str] | None,
        typer.Option(help="A bound in place of those that the goal names: 'time <= 1.01', 'area <= 1.1'. Repeatable."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes, and designs that are chosen at a time; 0: one for each core.", min=0)] = 0,
    threads: Threads = 0,
    scheduler: Scheduler = None,
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: a list of the designs found, with their measures.")] = False,
) -> int:
    """Search for designs that no other beats. It continues where it was interrupted, or where another process is."""
    from dataclasses import replace

    from warploom.base.errors import WarploomError
    from warploom.jit.announcement import announce_compilation
    from warploom.show.found import found_lines, found_rows, write_found
    from warploom.studies.search.goal import make_goal, read_constraint
    from warploom.studies.search.search import search

    use_threads(threads)
    load_papers(paper)
    load_policies(policy)
    wanted = make_goal(goal)
    if trials is not None:
        wanted = replace(wanted, trials=trials)
    if constraint:
        wanted = replace(wanted, constraints=tuple(read_constraint(text, "--constraint") for text in constraint))
    if out.exists() and not out.is_dir():
        raise WarploomError(f"--out {out}: it is a file; name a folder")
    announce_compilation()
    with progress_bar(wanted.trials, "searching") as step:
        done = 0

        def tell(what: str, finished: int) -> None:
            nonlocal done
            step(what, finished - done)
            done = finished

        outcome = search(wanted, out, jobs=jobs, scheduler=scheduler, step=tell)
    for reason, number in outcome.refused.most_common():
        message(f"refused, {number:,}: {reason}")
    write_found(outcome, out)
    message(f"designs tried: {outcome.trials:,}, stopped after few workloads: {outcome.stopped:,}")
    if not outcome.front:
        bounds = ", ".join(map(str, outcome.goal.constraints))
        message(f"none of them keeps to {bounds}; try more designs with --trials, or loosen a bound")
    if json:
        print_json(found_rows(outcome))
    elif outcome.front:
        narrow_table(results_console(), *found_lines(outcome))
        message(f"wrote {out / 'front.csv'}, {out / 'front.png'} and {out / 'designs'}")
    return 0
