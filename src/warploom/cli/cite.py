"""``warploom cite``: what to cite for a result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warploom.cli.output import print_json
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import PolicyFiles, load_policies


def command(
    result: Annotated[Path, typer.Argument(help="A file with what `run --json` printed.", metavar="RESULT")],
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: the BibTeX as one text.")] = False,
) -> None:
    """Print what to cite for a result, as BibTeX: Warploom, and the papers, the program and the machine that it rests on."""
    from warploom.runs.remake import read_records
    from warploom.show.citations import bibliography

    load_papers(paper)
    load_policies(policy)
    text = bibliography(read_records(result), str(result))
    if json:
        print_json({"bibtex": text})
    else:
        print(text)
