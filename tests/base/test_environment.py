"""Machines on which something is missing: a home, room on the disk, a cache that may be written, a parent that was killed."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warploom.base import kept
from warploom.base.cache import NoCache, cache_root, try_cache
from warploom.cli.app import run_command
from warploom.emulator.trace.store import COLUMNS, TraceStore
from warploom.jit import whole
from warploom.programs.device import Device
from warploom.programs.program import workload_program


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process."""
    monkeypatch.setattr(kept, "_said", set())


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that cannot be made, whoever asks: its folder would lie in a file."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "file" / "cache"))
    return tmp_path / "file" / "cache"


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file grows beyond a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def traced(store: TraceStore) -> Any:
    device = Device(workload_program("vectoradd").module(), record=store)
    arrays = [device.array(np.arange(2048, dtype=np.float32)) for _ in range(3)]
    for _ in range(2):
        device.launch("vectoradd", (16,), (128,), *arrays, np.int32(2000))
    assert arrays[2].get()[1999] == 2 * 1999
    return device.launches[0].trace


def same(first: Any, second: Any) -> bool:
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in COLUMNS)


@pytest.mark.compiled
def test_traces_stay_in_memory_where_nothing_can_be_written(
    tmp_path: Path, nowhere: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = traced(TraceStore(tmp_path / "sound"))
    capsys.readouterr()
    monkeypatch.setattr("warploom.base.kept._said", set())  # compiled code may have said so already
    assert same(traced(TraceStore()), expected)
    (line,) = capsys.readouterr().err.splitlines()  # once, though two launches could not be kept
    assert str(nowhere) in line and "without a cache" in line


@pytest.mark.compiled
@pytest.mark.parametrize("size", [0, 100, 300, 1000, 3000, 10_000])
def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, capsys: Any, size: int) -> None:
    expected = traced(TraceStore(tmp_path / "sound"))
    assert (tmp_path / "sound" / expected.key / "mask.npy").stat().st_size > 3000
    capsys.readouterr()
    with largest_file(size):
        trace = traced(TraceStore(tmp_path / "full"))
    assert same(trace, expected)
    said = capsys.readouterr().err.splitlines()
    left = [entry for entry in (tmp_path / "full").iterdir() if entry.is_dir()]  # traces
    assert (len(said), len(left)) == (1, 0) if size <= 3000 else (len(said) <= 1)
    assert all(TraceStore(tmp_path / "full").get(folder.name) is not None for folder in left)


def answer(number: int) -> int:
    return number + 37


def test_code_is_compiled_where_nothing_can_be_kept(nowhere: Path, capsys: Any) -> None:
    compiled = whole(answer)
    assert compiled(5) == 42
    (line,) = capsys.readouterr().err.splitlines()
    assert str(nowhere) in line and "without a cache" in line


def test_compiled_code_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    with largest_file(1000):
        assert whole(answer)(5) == 42
    (line,) = capsys.readouterr().err.splitlines()
    assert "without a cache" in line
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


@pytest.mark.compiled
def test_a_home_that_does_not_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.delenv("WARPLOOM_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "absent"))
    with pytest.raises(NoCache, match="no such home"):
        cache_root()
    expected = traced(TraceStore(tmp_path / "sound"))
    capsys.readouterr()
    assert same(traced(TraceStore()), expected)
    assert whole(answer)(5) == 42
    (line,) = capsys.readouterr().err.splitlines()
    assert "absent" in line and "without a cache" in line
    assert not (tmp_path / "absent").exists()
    assert run_command(["cache"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.compiled
def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("WARPLOOM_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    try_cache()
    traced(TraceStore())
    assert whole(answer)(5) == 42
    (line,) = capsys.readouterr().err.splitlines()
    assert "HOME is not set" in line


@pytest.mark.compiled
def test_results_on_a_full_disk_are_one_sentence() -> None:
    command = [sys.executable, "-m", "warploom", "machines", "--json"]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 2
    assert ended.stderr == "error: the output: No space left on device\n"


@pytest.mark.compiled
def test_the_cache_is_shown_and_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    (tmp_path / "of somebody else").write_text("kept")
    traced(TraceStore())
    assert whole(answer)(5) == 42
    capsys.readouterr()
    assert run_command(["cache", "--json"]) == 0
    parts = {part["part"]: part for part in json.loads(capsys.readouterr().out)}
    assert parts["traces"]["folder"] == str(tmp_path / "traces")
    on_disk = sum(file.stat().st_size for file in (tmp_path / "traces").rglob("*") if file.is_file())
    assert (parts["traces"]["entries"], parts["traces"]["bytes"]) == (2, on_disk)
    assert parts["jit"]["entries"] == 1 and parts["jit"]["bytes"] > 0
    assert run_command(["cache", "--clear"]) == 0
    assert "removed" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["of somebody else"]
    assert run_command(["cache"]) == 0
    assert "0 bytes" in capsys.readouterr().out


def children(pid: int) -> set[int]:
    """The processes that a process has started and that still run."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found.add(int(status.parent.name))
    return found


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.compiled
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_workers_end_with_a_parent_that_is_killed() -> None:
    command = [sys.executable, "-m", "warploom", "compare", "--jobs", "2", "--size", "paper", "--workloads", "sgemm,lbm"]
    parent = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        workers: set[int] = set()
        deadline = time.monotonic() + 120
        while len(workers) < 3 and time.monotonic() < deadline:  # two workers, and Python's own helper of them
            time.sleep(0.2)
            workers = children(parent.pid)
        assert len(workers) == 3
        time.sleep(5)  # they are at work
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        deadline = time.monotonic() + 30
        while any(map(running, workers)) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert not any(map(running, workers))
    finally:
        for pid in (parent.pid, *workers):
            if running(pid):
                os.kill(pid, signal.SIGKILL)
