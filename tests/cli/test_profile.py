"""``warploom profile`` as people use it: a table in the terminal, JSON for programs, files for other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.places import DATA
from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.cli.profile_files import parse_cycles, parse_warps

RUN = ["profile", "vectoradd", "--size", "tiny", "--sms", "1"]


def test_the_table_fits_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run_command([*RUN, "--top", "5", "--sort", "energy"]) == 0
    out = capsys.readouterr().out
    table, _, _ = out.partition("Warploom 0.")  # provenance is one line, however long
    assert max(map(len, table.splitlines())) <= 80
    assert "vectoradd under baseline" in out and "warps waited for:" in out and "schedulers idle:" in out
    rows = [line for line in table.splitlines() if line[:4].strip().isdigit()]
    assert len(rows) == 5
    energies = [int(line.split()[-1].replace(",", "")) for line in rows]
    assert energies == sorted(energies, reverse=True) and energies[0] > 0


@pytest.mark.parametrize("by", ["line", "block", "loop"])
def test_sums_by_other_parts_of_the_code(capsys: pytest.CaptureFixture[str], by: str) -> None:
    assert run_command([*RUN, "--by", by]) == 0
    assert f" {by} " in capsys.readouterr().out


def test_json_is_complete_and_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([*RUN, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    (kernel,) = result["profile"]
    assert sum(row["issues"] for row in kernel["instructions"]) == result["counters"]["warp_instructions"]
    assert kernel["by_line"] and kernel["by_block"] and "observed" not in result


def test_two_designs_stand_side_by_side(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run_command([*RUN, "--design", "baseline", "--design", "baseline + power=trimodal", "--top", "3"]) == 0
    out = capsys.readouterr().out
    assert "beside baseline" in out and "before" in out and "because of" in out and "in all: " in out


def test_files_for_perfetto_konata_and_a_browser(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("perfetto", reason="needs the extra looking")
    files = {name: tmp_path / f"run.{end}" for name, end in (("timeline", "pftrace"), ("pipeline", "kanata"), ("out", "html"))}
    words = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    assert run_command([*RUN, *words, "--warps", "0-1", "--cycles", "0:400"]) == 0
    said = capsys.readouterr().err
    assert all(f"wrote {path}" in said for path in files.values())
    log = files["pipeline"].read_text()
    assert log.startswith("Kanata\t0004\nC=\t") and " W0 0: " in log and " W1 0: " in log and " W2 " not in log
    assert files["timeline"].stat().st_size > 1000
    assert "hot-spots" in files["out"].read_text()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--sort", "tiem"], "--sort tiem: choose time, "),
        (["--by", "function"], "--by function: choose instruction, line, block or loop"),
        (["--out", "page.pdf"], "--out page.pdf: name a file that ends in .html"),
        (["--pipeline", "nowhere/run.kanata"], "--pipeline nowhere/run.kanata: there is no folder"),
        (["--pipeline", "run.kanata", "--sm", "7"], "--sm 7: the machine has SMs 0 to 0"),
        (["--pipeline", "run.kanata", "--warps", "3-"], "--warps 3-: write numbers below 48"),
        (["--pipeline", "run.kanata", "--cycles", "9"], "--cycles 9: write the first and the last"),
        (["--timeline", "x", "--design", "rfc", "--design", "baseline"], "name one --design"),
        (["--grid", "4"], "this goes with a .cu or .ptx file"),
    ],
)
def test_mistakes_are_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command([*RUN, *words]) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err and captured.err.count("\n") == 1
    assert captured.out == "" and not list(tmp_path.iterdir())


def test_cycles_and_warps_are_read() -> None:
    assert parse_cycles(None, 5000) == (0, 4999)
    assert parse_cycles("100:200", 5000) == (100, 200)
    assert parse_cycles("100:", 50) == (100, 149)
    assert parse_cycles(":70", 50) == (0, 70)
    assert parse_warps("0,3,8-11", 48) == [0, 3, 8, 9, 10, 11]
    with pytest.raises(WarploomError, match="the last comes before the first"):
        parse_cycles("9:3", 5)


def test_a_recording_is_profiled_like_a_workload(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = DATA / "recordings" / "symbols.wlr"
    assert run_command(["profile", str(file), "--sms", "1", "--json", "--out", str(tmp_path / "page.html")]) == 0
    result = json.loads(capsys.readouterr().out)
    issued = sum(row["issues"] for kernel in result["profile"] for row in kernel["instructions"])
    assert issued == result["counters"]["warp_instructions"] > 0 and result["verified"] is True
    assert "hot-spots" in (tmp_path / "page.html").read_text()
