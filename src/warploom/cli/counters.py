"""``warploom counters``: what the numbers in a result's `counters` mean, and who counts them."""

from __future__ import annotations

from typing import Annotated

import typer

from warploom.cli.output import narrow_table, print_json, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import PolicyFiles, load_policies


def command(
    name: Annotated[str | None, typer.Argument(help="Only counters whose names contain this word.", metavar="NAME")] = None,
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the counters of results: unit, meaning, and which policy or observer counts each."""
    from warploom.base.errors import WarploomError
    from warploom.base.spelling import did_you_mean
    from warploom.chip.counters import known_counters

    load_papers(paper)
    load_policies(policy)
    known = known_counters()
    chosen = [counter for counter in known if name is None or name in counter.name]
    if not chosen:
        raise WarploomError(f"no counter contains {name!r}{did_you_mean(str(name), {counter.name for counter in known})}")
    if json:
        print_json([counter._asdict() for counter in chosen])
        return
    rows = [((one.name, one.unit), f"{one.meaning} ({', '.join(one.counted_by)})") for one in chosen]
    narrow_table(results_console(), ("counter", "unit "), rows)
