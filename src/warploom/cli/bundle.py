"""``warploom bundle``: a result, or all of a plan, with all that it needs, for a colleague to run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warploom.cli.output import message, print_json
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import PolicyFiles, load_policies


def command(
    source: Annotated[
        Path,
        typer.Argument(help="What `warploom run --json` printed, or a plan that was swept.", metavar="RESULT.json|PLAN.toml"),
    ],
    out: Annotated[Path, typer.Argument(help="The bundle to write.", metavar="OUT.zip")],
    results: Annotated[Path, typer.Option(help="With a plan: the folder that `warploom sweep` kept its runs in.")] = Path(
        "results/sweep"
    ),
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: the files that are in it.")] = False,
) -> None:
    """Put a result, or the runs of a plan, and all files that they need into one archive, from which `run --from` makes them
    again on another machine."""
    from warploom.runs.bundle import write_bundle
    from warploom.runs.remake import read_records

    load_papers(paper)
    load_policies(policy)
    is_plan = source.suffix.lower() == ".toml"
    records = _runs_of(source, results) if is_plan else read_records(source)
    files = write_bundle(records, str(source), out, [source] if is_plan else [])
    message(f"wrote {out}: results {len(records)}, files {len(files)}; to make them again: warploom run --from {out}")
    if json:
        print_json([str(file) for file in files])
    else:
        for file in files:
            print(file)


def _runs_of(plan: Path, folder: Path) -> list[dict[str, Any]]:
    """The stored results of a plan's runs."""
    from warploom.base.errors import WarploomError
    from warploom.studies.sweep.sweep import prepare

    swept = prepare(plan, folder)
    found = [result for result in swept.asked.loaded() if result is not None]
    if not found:
        raise WarploomError(f"{plan}: none of its runs is stored in {folder}: run `warploom sweep {plan} --out {folder}` first")
    if len(found) < len(swept.specs):
        message(f"not in the bundle, for {folder} does not hold them: {len(swept.specs) - len(found)} of {len(swept.specs)} runs")
    return [result.to_dict() for result in found]
