"""The options by which commands say how runs are made: size, seed, energy table, checker, policies, budget, processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

Size = Annotated[str, typer.Option(help="tiny, small, paper or chip.")]
Seed = Annotated[int | None, typer.Option(help="Of a workload's inputs, in place of its own.", min=0)]
Technology = Annotated[
    str | None, typer.Option(help="An energy table's name or .toml file; else the machine's own, or 'common'.")
]
Caches = Annotated[
    str, typer.Option(help="cold: L2 is empty when the program begins; warm: it also holds what the host copies to the device.")
]
Check = Annotated[bool, typer.Option("--check", help="Let the shadow checker watch every register access.")]
MaxInstructions = Annotated[int, typer.Option(help="Stop a launch that executes more warp instructions than this.", min=1)]
Jobs = Annotated[int, typer.Option(help="Processes; 0: one for each core.", min=0)]
Scheduler = Annotated[
    str | None, typer.Option(help="Let the workers of this Dask scheduler make the runs.", metavar="tcp://HOST:PORT")
]
PolicyFiles = Annotated[list[str] | None, typer.Option(help="Also load policies from this file.", metavar="FILE")]


def load_policies(files: Sequence[str] | None) -> None:
    """Load the policies of the files that ``--policy`` names."""
    from warploom.register_file import load_policy_file

    for file in files or ():
        load_policy_file(file)
