"""Tables keep to 80 columns, whatever the names of designs and the reasons of numbers are."""

from __future__ import annotations

import csv
import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from warploom.cli.output import named_table, narrow_table, plain_table, print_table, results_console
from warploom.cli.run import _print_results, show
from warploom.show.reproduction import SCORE_HEADINGS, score_rows

pytestmark = pytest.mark.unit

LONG = "rfc + encoding=bdi + warped-rf + power=trimodal"


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def result(design: str) -> Any:
    energy = {"dynamic": 1e8, "leakage": 1e8, "overhead": 1e7, "total": 2.1e8}
    counters = {"rf_reads": 10**7, "rf_writes": 10**7, "bank_conflicts": 10**6, "allocated_fraction": 0.5, "live_fraction": 0.5}
    numbers = {"cycles": 12_345_678, "ipc": 1.5, "warp_instructions": 10**8, "occupancy": 1.0}
    sizes = {"registers_per_thread": 32, "ctas_per_sm": 8, "register_file_bytes": 131072, "storage_bits": 545_856}
    about = {"workload": "matrixmul", "design": {"name": design}, "verified": True, "verdict": "yes"}
    inside: dict[str, Any] = {
        "provenance": None,
        "energy_terms": (),
        "launches": [],
        "wall_seconds": 12.3,
        "compile_seconds": 0.0,
    }
    return SimpleNamespace(**about, **numbers, **sizes, **inside, counters=counters, energy_pj=energy)


def test_many_designs_stand_in_several_tables(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["baseline", "rfc", "gpu-shrink", LONG, "regmutex-paired", "hardware-renaming"]
    _print_results([result(name) for name in names])
    printed = capsys.readouterr().out
    assert max(len(line.rstrip()) for line in printed.splitlines()) <= 80
    assert all(name in printed for name in names if name != LONG)  # no name is cut in two
    assert printed.count("warp instructions") == 2 and printed.count("12,345,678") == len(names)


def test_reasons_of_a_scorecard_are_wrapped_below_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    fact = SimpleNamespace(full_id="rfv.shrink-time", value=0.58, unit="%", what="time added by GPU-shrink, 64 KB", derived="")
    shown = SimpleNamespace(value=0.61, without="what the compiler does otherwise, which is a long story " * 3, run="a design")
    scores: list[Any] = [SimpleNamespace(fact=fact, ours=10.4, verdict="differs", experiment=shown, reason="")]
    narrow_table(results_console(), SCORE_HEADINGS, score_rows(scores))
    heading, numbers, *below = capsys.readouterr().out.splitlines()
    assert heading.split() == ["number", "paper", "ours", "unit", "verdict"]
    assert numbers.split() == ["rfv.shrink-time", "0.58", "10.4", "%", "differs"]
    assert len(below) > 1 and all(len(line) <= 80 and line.startswith("    ") for line in below)


@pytest.mark.parametrize("width", [80, 160])
def test_a_long_name_stands_above_its_numbers_where_there_is_no_room_beside_them(width: int) -> None:
    names = ["short", "a name that leaves no room for any number on a line of eighty columns"]
    rows = [[name, "1,234", "+5.0%", "exact"] for name in names]
    console = Console(width=width, record=True, file=io.StringIO())
    named_table(console, "title", ("kernel", "measured", "error", "instr"), rows)
    lines = console.export_text().rstrip().splitlines()
    assert max(map(len, lines)) <= width
    assert [" ".join(line.split()) for line in lines[2:]] == (
        ["short 1,234 +5.0% exact", names[1], "1,234 +5.0% exact"]
        if width == 80
        else ["short 1,234 +5.0% exact", f"{names[1]} 1,234 +5.0% exact"]
    )


def test_a_narrow_terminal_keeps_every_column_whole(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    table = plain_table("design", "cycles", "energy", "verified", "and one more")
    table.add_row("compiler-spill", "12,345,678", "100.0%", "yes", "0.000")
    print_table(table)
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert all(word in printed.split() for word in ("compiler-spill", "12,345,678", "100.0%", "verified", "0.000"))


def test_a_pipe_has_no_margin(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    names = ["baseline", "rfc", "gpu-shrink", LONG, "regmutex-paired", "hardware-renaming"]
    _print_results([result(name) for name in names])
    printed = capsys.readouterr().out
    (heading,) = [line for line in printed.splitlines() if "regmutex-paired" in line]
    assert LONG in heading and max(map(len, printed.splitlines())) < 200  # whole, and not filled up with blanks


def test_a_table_for_a_spreadsheet_and_for_a_paper(capsys: pytest.CaptureFixture[str]) -> None:
    show([result(name) for name in ("baseline", LONG)], several=True, json=False, power=False, csv=True)
    heading, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
    assert heading[:4] == ["program", "design", "verified", "cycles"] and [row[1] for row in rows] == ["baseline", LONG]
    assert rows[0][3] == "12345678" and len({len(row) for row in (heading, *rows)}) == 1
    show([result("half_file")], several=True, json=False, power=False, latex=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(r"\begin{tabular}{llr") and lines[-1] == r"\end{tabular}"
    assert r"half\_file" in lines[4] and r"100\%" in lines[4] and lines[4].count(" & ") == lines[2].count(" & ")
