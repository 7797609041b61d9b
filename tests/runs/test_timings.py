"""How long runs took: noted for each, written now and then, and at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from warploom.chip.machines import load_machine
from warploom.designs import design
from warploom.programs.named import origin_named
from warploom.runs.spec import RunSpec
from warploom.runs.timings import KEPT, WRITE_SECONDS, Timings, expect


def a_run(workload: str) -> RunSpec:
    return RunSpec(origin_named(workload), design("baseline"), load_machine("gtx480"), "tiny")


def test_what_was_noted_is_expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    timings = Timings()
    for seconds in range(KEPT + 3):
        timings.note(a_run("bfs"), seconds, 1000)
    assert expect([a_run("bfs")]).seconds is None  # nothing is written for each run
    timings.write()
    assert expect([a_run("bfs")]).seconds == 3 + KEPT // 2  # the median of the last
    both = expect([a_run("bfs"), a_run("hotspot")])
    assert (both.untimed, both.bytes) == (1, 2000)


def test_it_is_written_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    now = [0.0]
    timings = Timings(clock=lambda: now[0])
    timings.note(a_run("bfs"), 2, 1000)
    now[0] = WRITE_SECONDS
    timings.note(a_run("bfs"), 2, 1000)
    assert expect([a_run("bfs")]).seconds == 2


def test_no_cache_is_no_reason_to_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "file"))
    timings = Timings()
    timings.note(a_run("bfs"), 2, 1000)
    timings.write()
    assert expect([a_run("bfs")]).seconds is None
