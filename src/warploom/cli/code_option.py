"""The option by which commands choose what is executed: PTX through our backend, or machine code of a real GPU."""

from __future__ import annotations

from typing import Annotated

import typer

Code = Annotated[
    str | None,
    typer.Option(help="What is executed: ptx, or machine code such as sm_90; else the machine's usual code."),
]


def check_given(code: str | None) -> str | None:
    """A code that was asked for, or an error that lists what there is."""
    from warploom.programs.program import check_code

    return None if code is None else check_code(code)
