"""The options by which commands say how a picture is set, and in which form a table is printed."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from warploom.base.errors import WarploomError
from warploom.cli.output import print_table

if TYPE_CHECKING:
    from warploom.show.setting import Setting

FigureWidth = Annotated[
    str | None, typer.Option("--width", help="Width of the whole picture, such as 84mm or 3.33in.", metavar="WIDTH")
]
FontSize = Annotated[float | None, typer.Option(help="Size of the picture's letters in points.", min=4, max=40)]
NoProvenance = Annotated[
    bool, typer.Option("--no-provenance", help="Leave out of the picture what it was made from, the record inside it too.")
]
Csv = Annotated[bool, typer.Option("--csv", help="Print the tables as CSV.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print the tables for LaTeX (with the package booktabs).")]

_ESCAPED = {each: f"\\{each}" for each in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}


def setting(width: str | None, font_size: float | None, no_provenance: bool) -> Setting:
    """How a picture is set."""
    from warploom.show.setting import USUAL, Setting, parse_width

    points = parse_width(width) if width is not None else None
    return Setting(points, font_size if font_size is not None else USUAL.font_size, not no_provenance)


def check_form(csv: bool, latex: bool, json: bool) -> None:
    """Refuse two forms at once."""
    asked = [option for option, given in (("--csv", csv), ("--latex", latex), ("--json", json)) if given]
    if len(asked) > 1:
        raise WarploomError(f"{' and '.join(asked)} exclude each other; ask for one of them")


def print_in_form(table: Table, csv: bool, latex: bool) -> None:
    """A table for the terminal, for a spreadsheet or for a paper."""
    if csv:
        _print_csv(table)
    elif latex:
        print(_latex(table))
    else:
        print_table(table)


def _rows(table: Table) -> list[list[str]]:
    """The headings and cells, without markup."""
    columns = [[Text.from_markup(str(cell)).plain for cell in (column.header, *column.cells)] for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _print_csv(table: Table) -> None:
    """Numbers without the commas of their thousands, which would separate columns in some programs."""
    rows = [[cell.replace(",", "") if cell.replace(",", "").replace(".", "").isdecimal() else cell for cell in row]
            for row in _rows(table)]  # fmt: skip
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


def _latex(table: Table) -> str:
    heading, *rows = [" & ".join("".join(_ESCAPED.get(each, each) for each in cell) for cell in row) for row in _rows(table)]
    columns = "".join("r" if column.justify == "right" else "l" for column in table.columns)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", rf"{heading} \\", r"\midrule", *(rf"{row} \\" for row in rows)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])
