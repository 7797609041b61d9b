"""``warploom validate`` from end to end, on two small kernels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warploom.cli.app import run_command
from warploom.cli.validate import _chosen
from warploom.studies.validate.recorded import folder_of, read_launches


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_command(["validate", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_two_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--machine", "gtx480", "--only", "nn,empty", "--size", "small,own", "--jobs", "1", "--store", str(tmp_path / "runs")]
    code, out, err = _run(capsys, *words, "--json", "--out", str(tmp_path / "picture.svg"))
    assert code == 0, err
    shown = json.loads(out)
    assert sorted((row["program"], row["size"]) for row in shown["launches"]) == [("empty", "own"), ("nn", "small")]
    for row in shown["launches"]:
        assert row["instructions"] == row["measured_instructions"], row["program"]
        assert row["error"] == pytest.approx(row["cycles"] / row["measured_cycles"] - 1)
    assert {one["part"] for one in shown["summaries"]} == {"adjust", "held-out", "all"}
    assert "<svg" in (tmp_path / "picture.svg").read_text()
    stored = list((tmp_path / "runs").glob("*.json"))
    assert len(stored) == 1
    before = stored[0].stat().st_mtime_ns
    code, out, _ = _run(capsys, *words)
    assert code == 0 and "exact" in out and "held-out" in out and "NVIDIA H200" in out
    assert "workloads with such a launch" in out and "1 of 1" in out  # nn, of 2673 CTAs
    assert stored[0].stat().st_mtime_ns == before  # nothing was made again
    assert "<svg" in (tmp_path / "runs" / "gtx480-beside-h200.svg").read_text()  # a picture comes with the table


def test_with_warm_caches_cycles_are_compared_with_those_of_caches_as_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--machine", "gtx480", "--only", "vecadd", "--caches", "warm", "--jobs", "1", "--store", str(tmp_path / "runs")]
    code, out, err = _run(capsys, *words, "--json")
    assert code == 0, err
    shown = json.loads(out)
    (row,) = shown["launches"]
    (measured,) = (one for one in read_launches(folder_of("h200"))[1] if one.program == "vecadd")
    assert shown["caches"] == "warm" and row["measured_cycles"] == measured.cycles_as_is
    assert row["dram_read_bytes"]["measured"] is None
    code, out, _ = _run(capsys, *words)
    assert code == 0 and "caches as the program left them" in out and "DRAM" not in out
    assert "correlation of cycles" in out and "nan" not in out  # one launch correlates with nothing
    assert (tmp_path / "runs" / "gtx480-beside-h200-warm.svg").exists()


def test_without_a_size_all_that_was_measured_is_compared() -> None:
    _, launches = read_launches(folder_of("h200"))
    assert _chosen(launches, None, (), None) == launches
    assert {launch.size for launch in _chosen(launches, "own,small", (), None)} == {"own", "small"}


def test_one_microbenchmark(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, "--machine", "gtx480", "--microbenchmarks", "--only", "bank.000", "--json")
    assert code == 0, err
    (number,) = json.loads(out)["numbers"]
    assert number["name"] == "bank.000" and number["measured"] == 3 and number["ours"] > 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--machine", "gtx480", "--only", "hotspt"), "--only 'hotspt'"),
        (("--machine", "gtx480", "--size", "huge"), "--size 'huge'"),
        (("--machine", "gtx480", "--part", "both"), "--part 'both'"),
        (("--machine", "gtx480", "--only", "empty", "--size", "paper"), "nothing was measured"),
        (("--machine", "gtx480", "--measured", "b200"), "recorded are h200"),
        (("--machine", "gtx480", "--out", "picture.gif"), "must end in"),
        (("--machine", "gtx480", "--microbenchmarks", "--only", "nothing.such"), "no comparable microbenchmark"),
        (("--machine", "gtx480", "--caches", "hot"), "choose cold or warm"),
        (("--machine", "gtx480", "--microbenchmarks", "--caches", "warm"), "omit --caches"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = _run(capsys, *words)
    assert code == 2 and complaint in err and "Traceback" not in err
