"""Threads that a run may use: those that were asked for, else the cores that nobody uses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from warploom.base import cores


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine of eight cores with nothing to do but us."""
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    monkeypatch.setattr(cores, "_RUNNING", tmp_path / "loadavg")
    monkeypatch.setattr(cores, "_QUOTA", tmp_path / "cpu.max")
    (tmp_path / "loadavg").write_text("0.10 0.20 0.30 1/400 4242\n")
    yield tmp_path
    cores.use_threads(1)


def test_one_until_somebody_says_otherwise() -> None:
    assert cores.threads() == 1


def test_as_many_as_were_asked_for(machine: Path) -> None:
    (machine / "loadavg").write_text("9 9 9 9/400 4242\n")
    cores.use_threads(5)
    assert (cores.threads(), cores.asked_threads()) == (5, 5)


def test_all_cores_of_an_idle_machine() -> None:
    cores.use_threads(0)
    assert cores.threads() == 8


def test_what_other_processes_leave(machine: Path) -> None:
    cores.use_threads(0)
    (machine / "loadavg").write_text("0.10 0.20 0.30 4/400 4242\n")
    assert cores.threads() == 5
    (machine / "loadavg").write_text("0.10 0.20 0.30 28/400 4242\n")
    assert cores.threads() == 1


def test_a_part_for_each_of_several_processes() -> None:
    cores.use_threads(0, processes=3)
    assert cores.threads() == 2


def test_no_more_than_a_container_is_given(machine: Path) -> None:
    cores.use_threads(0)
    (machine / "cpu.max").write_text("300000 100000\n")
    assert cores.threads() == 3
    (machine / "cpu.max").write_text("max 100000\n")
    assert cores.threads() == 8
    (machine / "cpu.max").write_text("50000 100000\n")
    assert cores.threads() == 1


def test_a_system_that_says_nothing_of_others(machine: Path) -> None:
    cores.use_threads(0)
    (machine / "loadavg").unlink()
    assert cores.threads() == 8
