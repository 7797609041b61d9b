"""The tables of ``warploom profile``: rows of fixed width that fit 80 columns; a wider terminal shows more of the code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from warploom.programs.custom import kernel_titles
from warploom.runs.result import Result
from warploom.show.limits import limit_lines, use_lines
from warploom.show.profile import ORDERS, KernelProfile, Row, lost_cycles, mostly, paired, scheduler_count, warp_cycles

_LAST = {  # the last column: what rows are ordered by, or conflicts where that has a column already
    "stalls": "stalls",
    "reads": "reads",
    "writes": "writes",
    "upper": "above",
    "wakeups": "wake",
    "encoded": "encoded",
    "energy": "pJ",
}


def print_profile(
    console: Console, result: Result, kernels: Sequence[KernelProfile], lines: Sequence[str], *, by: str, sort: str, top: int
) -> None:
    """One design: the hottest rows of each kernel, then why warps and schedulers waited."""
    console.print(f"[bold]{result.workload} under {result.design['name']}[/]: {result.cycles:,} cycles, IPC {result.ipc:.2f}")
    width = min(console.width, 100)
    for text in (*limit_lines(result, width), *use_lines(result, width)):
        console.print(text, soft_wrap=True)
    titles = kernel_titles([kernel.kernel for kernel in kernels])
    for kernel in kernels:
        total = kernel.total()
        launches = f"{kernel.launches} launch{'es' if kernel.launches != 1 else ''}"
        console.print(f"\nkernel {_cut(titles[kernel.kernel], 60)}, {launches}: {kernel.cycles:,} cycles")
        rows = _rows(kernel, by)
        key = ORDERS[sort][0] if by == "instruction" or sort != "pc" else lambda row: -row[by]
        shown = sorted(rows, key=key, reverse=True)
        shown = [row for row in shown if warp_cycles(row) or row["issues"]][: top or None]
        _print_rows(console, shown, total, lines, by, sort)
        _print_reasons(console, "warps waited for", total["waits"], total["issue_cycles"], "issuing")
        _print_reasons(console, "schedulers idle", total["stalls"], 0, "")
    rows = [row for kernel in kernels for row in kernel.rows]
    spent, others = (sum(row["energy_pj"] for row in rows if (row["pc"] < 0) == none) / 1000 for none in (False, True))
    console.print(
        f"\nEnergy: {spent:,.1f} nJ of accesses to the main register file, shared out by the lanes that each instruction "
        f"switches. To no instruction belong {others:,.1f} nJ of values that move and of what the design adds, and "
        f"{result.energy_pj['leakage'] / 1000:,.1f} nJ of leakage.\n"
    )


def print_comparison(
    console: Console,
    first: Result,
    first_kernels: Sequence[KernelProfile],
    second: Result,
    second_kernels: Sequence[KernelProfile],
    *,
    top: int,
) -> None:
    """Two designs: the instructions at which schedulers wait longer under the second, in cycles of the run."""
    names = first.design["name"], second.design["name"]
    more = second.cycles - first.cycles
    share = f"{abs(more) / first.cycles:.1%}"
    verdict = f"{abs(more):,} cycles {'more' if more >= 0 else 'less'} ({share})"
    console.print(f"[bold]{names[1]} beside {names[0]}[/]: {verdict}")
    schedulers = scheduler_count(first)
    kernels = {kernel.kernel: kernel for kernel in first_kernels}
    titles = kernel_titles(list(kernels))
    for kernel in second_kernels:
        if kernel.kernel not in kernels:
            continue
        lost = lost_cycles(paired(kernels[kernel.kernel].rows, kernel.rows))[: top or None]
        texts = [row["instruction"] or "(no instruction)" for row, *_ in lost]
        width = _room(console, 57, texts)
        console.print(f"\nkernel {_cut(titles[kernel.kernel], 60)}: cycles in which a scheduler issued nothing, on average")
        heading = f"{'before':>9} {'after':>9} {'change':>9}"
        _line(console, f"{'pc':>4} {'line':>5} {'instruction':{width}} {heading} because of", "dim")
        for (row, before, after, reason), text in zip(lost, texts, strict=True):
            pc, line = _place(row)
            change = (after - before) / schedulers
            numbers = f"{before / schedulers:9,.0f} {after / schedulers:9,.0f} {change:+9,.0f}"
            _line(console, f"{pc:>4} {line:>5} {_cut(text, width):{width}} {numbers} {reason}")
        old, new = kernels[kernel.kernel].total()["stalls"], kernel.total()["stalls"]
        changes = {reason: (new.get(reason, 0) - old.get(reason, 0)) / schedulers for reason in (*old, *new)}
        ordered = sorted(changes.items(), key=lambda item: -abs(item[1]))
        console.print("in all: " + ", ".join(f"{reason} {cycles:+,.0f}" for reason, cycles in ordered if round(cycles)))
    console.print()


def _rows(kernel: KernelProfile, by: str) -> list[Row]:
    return {"instruction": lambda: kernel.rows, "line": kernel.by_line, "block": kernel.by_block, "loop": kernel.by_loop}[by]()


def _place(row: Row) -> tuple[str, str]:
    return (str(row["pc"]) if row["pc"] >= 0 else "-"), (str(row["line"]) if row["line"] else "-")


def _print_rows(console: Console, rows: Sequence[Row], total: Row, lines: Sequence[str], by: str, sort: str) -> None:
    texts = [row["instruction"] or "(no instruction)" if by == "instruction" else _text_of(row, by, lines) for row in rows]
    width = _room(console, 56, texts)
    last = _LAST.get(sort, "confl.")
    value = ORDERS[sort if sort in _LAST else "conflicts"][0]
    first = f"{'pc':>4} {'line':>5}" if by == "instruction" else f"{by:>10}"
    what = "instruction" if by in ("instruction", "loop", "block") else "source"
    _line(console, f"{first} {what:{width}} {'issues':>9} {'time':>6} {'mostly for':16} {last:>9}", "dim")
    everything = max(1, warp_cycles(total))
    for row, text in zip(rows, texts, strict=True):
        place = "{:>4} {:>5}".format(*_place(row)) if by == "instruction" else f"{row[by]:>10}"
        numbers = f"{row['issues']:9,} {warp_cycles(row) / everything:6.1%} {mostly(row):16} {value(row):9,.0f}"
        _line(console, f"{place} {_cut(text, width):{width}} {numbers}")


def _text_of(row: Row, by: str, lines: Sequence[str]) -> str:
    if by == "line":
        number = row["line"]
        return lines[number - 1].strip() if 0 < number <= len(lines) else "(of no line)"
    number = row["instructions"]
    return f"{number} instruction{'' if number == 1 else 's'}" if row[by] >= 0 else "(no instruction)"


def _print_reasons(console: Console, title: str, cycles: Mapping[str, int], rest: int, name: str) -> None:
    spent = dict(cycles) | ({name: rest} if name else {})
    total = max(1, sum(spent.values()))
    ordered = sorted(spent.items(), key=lambda item: -item[1])
    console.print(f"{title}: " + ", ".join(f"{reason} {value / total:.1%}" for reason, value in ordered if value))


def _room(console: Console, taken: int, texts: Sequence[str]) -> int:
    """The width of a column of texts beside columns that take so much: that of the longest, or as much as there is."""
    return max(20, min(console.width - taken, max(map(len, texts), default=0)))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _line(console: Console, text: str, style: Any = None) -> None:
    console.print(Text(text.rstrip(), style=style or ""), soft_wrap=True)
