"""The option that names a paper's folder outside the package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

PaperFolders = Annotated[
    list[Path] | None,
    typer.Option(
        "--paper", help="Also load the paper of this folder: policies, designs, machines, figures. Repeatable.", metavar="DIR"
    ),
]


def load_papers(folders: Sequence[Path] | None) -> None:
    """Load the papers of the folders that ``--paper`` names."""
    from warploom.base.library import load_paper

    for folder in folders or ():
        load_paper(folder)
