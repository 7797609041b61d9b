"""``warploom bundle``: a result with all that it needs, for a colleague to run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warploom.cli.output import message, print_json


def command(
    result: Annotated[Path, typer.Argument(help="What `warploom run --json` printed.", metavar="RESULT.json")],
    out: Annotated[Path, typer.Argument(help="The bundle to write.", metavar="OUT.zip")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON: the files that are in it.")] = False,
) -> None:
    """Put a result and all files that it needs into one archive, from which `run --from` makes it again on another machine."""
    from warploom.runs.bundle import write_bundle

    files = write_bundle(result, out)
    message(f"wrote {out}; files in it besides the result: {len(files)}")
    if json:
        print_json([str(file) for file in files])
    else:
        for file in files:
            print(file)
