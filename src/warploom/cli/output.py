"""Where output goes: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from warploom.base.progress import Activity, activity, under_way
from warploom.runs.values import plain

_NO_MARGIN = 10_000


class _ResultsConsole(Console):
    """A console whose reader may go: that is no failure."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def results_console() -> Console:
    """The console for what was asked for. In a file or a pipe there is no margin: its lines are as long as tables want."""
    erase_live_line()
    whole = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return _ResultsConsole(highlight=False, width=_NO_MARGIN if whole else None)


def print_table(table: Table, *, stderr: bool = False) -> None:
    """Print a table with every column whole: where the terminal is too narrow for it, its lines are longer than the terminal."""
    console = messages_console() if stderr else results_console()
    lacking = Measurement.get(console, console.options.update_width(_NO_MARGIN), table).maximum - console.width
    if lacking > 0:
        console.width += _make_narrower(table, lacking)
    console.print(table)


def _make_narrower(table: Table, lacking: int) -> int:
    """Take so much from the widest columns, from none below its longest word; what is lacking still."""
    texts = [[str(column.header), *map(str, column.cells)] for column in table.columns]
    widths = [max(map(len, each)) for each in texts]
    words = [max(len(word) for text in each for word in [*text.split(), ""]) for each in texts]
    least = [width if column.no_wrap else word for column, width, word in zip(table.columns, widths, words, strict=True)]
    while lacking and widths != least:
        _, place = max((width, place) for place, width in enumerate(widths) if width > least[place])
        widths[place] -= 1
        lacking -= 1
    for column, width in zip(table.columns, widths, strict=True):
        column.width = width
    return lacking


def messages_console() -> Console:
    """The console for progress and messages."""
    return Console(stderr=True, highlight=False)


def message(text: str) -> None:
    """One line on standard error."""
    erase_live_line()
    print(text, file=sys.stderr)


_ERASE = "\r\x1b[K"  # for a terminal: go to the line's beginning, and empty it
_live_line_is_shown = False


def show_live_line(text: str) -> None:
    """Show a line on the terminal in place of the one before; what is printed next through this module stands in its place."""
    global _live_line_is_shown
    _live_line_is_shown = True
    print(f"{_ERASE}{text[: shutil.get_terminal_size().columns - 1]}", end="\r", file=sys.stderr, flush=True)


def erase_live_line() -> None:
    """Take the live line away, if there is one."""
    global _live_line_is_shown
    if _live_line_is_shown:
        _live_line_is_shown = False
        print(_ERASE, end="", file=sys.stderr, flush=True)


def plain_table(*headings: str, title: str | None = None, numbers_from: int = 1) -> Table:
    """A table with light lines that fits a narrow terminal; columns from ``numbers_from`` on are aligned to the right."""
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False, padding=(0, 1))
    for position, heading in enumerate(headings):
        table.add_column(heading, justify="right" if position >= numbers_from else "left", overflow="fold")
    return table


def narrow_table(console: Console, headings: Sequence[str], rows: Iterable[tuple[Sequence[str], str]]) -> None:
    """A table that fits 80 columns: short cells in a line, and what is long below it, wrapped and indented.

    The first column is of names and aligned to the left, as are columns whose heading ends in a blank.
    """
    lines = list(rows)
    widths = [max(map(len, column)) for column in zip(headings, *(cells for cells, _ in lines), strict=True)]
    left = [place == 0 or heading.endswith(" ") for place, heading in enumerate(headings)]

    def line(cells: Sequence[str]) -> str:
        parts = (f"{c:<{w}}" if l else f"{c:>{w}}" for c, w, l in zip(cells, widths, left, strict=True))
        return "  ".join(parts).rstrip()

    console.print(Text(line(headings), style="bold"), soft_wrap=True)
    for cells, below in lines:
        console.print(Text(line(cells)), soft_wrap=True)
        if below:
            for part in wrap(below, max(40, min(console.width, 100)) - 4, break_on_hyphens=False):
                console.print(Text(f"    {part}", style="dim"), soft_wrap=True)


def named_table(console: Console, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of names with numbers, a line for each; a name that a narrow terminal has no room for stands above its numbers."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    room = console.width - sum(widths[1:]) - 2 * len(widths[1:])
    named = min(widths[0], max(room, len(headings[0])))

    def line(name: str, numbers: Sequence[str]) -> Text:
        return Text("  ".join((f"{name:<{named}}", *(f"{n:>{w}}" for n, w in zip(numbers, widths[1:], strict=True)))))

    console.print(Text(title, style="bold"))
    console.print(Text.assemble(line(headings[0], headings[1:]), style="dim"), soft_wrap=True)
    for name, *numbers in rows:
        if len(name) > named:
            console.print(Text(name), soft_wrap=True)
            name = ""
        console.print(line(name, numbers), soft_wrap=True)
    console.print()


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    erase_live_line()
    print(json_text(value))


def json_text(value: Any) -> str:
    """A value as results are written for people and other programs."""
    return json.dumps(plain(value), indent=1, allow_nan=False)


class _UnderWay(ProgressColumn):
    """What the steps within a bar's own say of themselves."""

    def __init__(self, own: Activity) -> None:
        super().__init__()
        self.own = own

    def render(self, task: Any) -> Text:
        told = under_way().removeprefix(str(self.own)).removeprefix(", ")
        return Text(told, style="dim", no_wrap=True, overflow="ellipsis")  # a second line would make the bar jump


_bars = 0  # that are shown now


def bar_is_shown() -> bool:
    """Whether a progress bar is on the terminal now."""
    return _bars > 0


@contextmanager
def progress_bar(total: int, what: str, *, quiet: bool = False) -> Iterator[Any]:
    """A progress bar on standard error if that is a terminal; yields ``step(description)``, to call after each item.

    Where there is no terminal, what it would show is told to `warploom.base.progress`, and so to the heartbeat.
    """
    global _bars
    console = messages_console()
    bar = BarColumn(max(10, min(40, console.width - 100)))  # on a narrow terminal the words come first
    columns: list[ProgressColumn] = [TextColumn("{task.description}"), bar, MofNCompleteColumn(), TimeElapsedColumn()]
    if total > 1:  # from how long the first ones took
        columns.append(TimeRemainingColumn())
    shown = console.is_terminal and not quiet and total > 0
    erase_live_line()
    with (
        activity(what) as known,
        Progress(*columns, _UnderWay(known), console=console, transient=True, disable=not shown) as progress,
    ):
        task = progress.add_task(what, total=total)
        done = 0

        def step(description: str | None = None, advance: int = 1) -> None:
            nonlocal done
            done += advance
            progress.update(task, advance=advance, description=description or what)
            known.what = description or what
            known.how_far = f"{done} of {total} done" if total > 1 else ""

        _bars += shown
        try:
            yield step
        finally:
            _bars -= shown
