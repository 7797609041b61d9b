"""Traces that are being written belong to a process: what a killed one leaves is swept, what a living one has is left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warploom.base.errors import WarploomError
from warploom.base.locks import Lock
from warploom.emulator.trace.drafts import TraceDraft, sweep
from warploom.emulator.trace.store import TraceStore

WRITER = """
import sys
import numpy as np
from warploom.emulator.trace.store import TraceStore
folder, name, limit, number = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
store = TraceStore(folder, limit=limit)
for each in range(number):
    writer = store.write(f"{name}-{each}", "k", (2, 1, 1), (32, 1, 1), 1)
    writer.append(pc=np.arange(8000), mask=np.full(8000, each), value=np.arange(8000), memory=np.zeros(0))
    if name == "stuck":
        print("begun", flush=True)
        sys.stdin.readline()
    trace = writer.finish()
    assert trace.mask[-1] == each and len(trace.pc) == 8000
print("whole")
"""


def writer(folder: Path, name: str, limit: int = 8 << 30, number: int = 1) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), name, str(limit), str(number)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def stuck(tmp_path: Path) -> subprocess.Popen[str]:
    """A process that has begun a trace."""
    process = writer(tmp_path, "stuck")
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    return process


def write(store: TraceStore, key: str, length: int = 10) -> Any:
    writer = store.write(key, "k", (2, 1, 1), (32, 1, 1), 1)
    writer.append(pc=np.arange(length), mask=np.full(length, 1), value=np.arange(length), memory=np.zeros(0))
    return writer.finish()


def drafts(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name.startswith(".") and entry.name != ".written"]


def test_the_draft_of_a_killed_process_is_swept_by_the_next_that_writes(tmp_path: Path, stuck: subprocess.Popen[str]) -> None:
    (draft,) = (entry for entry in tmp_path.iterdir() if entry.is_dir())
    os.kill(stuck.pid, signal.SIGKILL)
    stuck.communicate()
    assert sum(file.stat().st_size for file in draft.iterdir()) > 80_000
    write(TraceStore(tmp_path), "a")
    assert drafts(tmp_path) == []


def test_the_draft_of_a_living_process_is_left_alone(tmp_path: Path, stuck: subprocess.Popen[str]) -> None:
    write(TraceStore(tmp_path, limit=1), "a")  # far below what is there, so that everything is looked at
    out, err = stuck.communicate("go on\n")
    assert (out, err) == ("whole\n", "")
    assert TraceStore(tmp_path).get("stuck-0") is not None and drafts(tmp_path) == []


def test_what_is_being_written_does_not_count(tmp_path: Path, stuck: subprocess.Popen[str]) -> None:
    store = TraceStore(tmp_path, limit=64 << 10)  # less than the draft has
    for key in "abc":
        write(store, key)
        store.prune(key)
    assert all(store.get(key) is not None for key in "abc")
    stuck.communicate("go on\n")


def test_two_processes_that_have_room_for_few_traces(tmp_path: Path, stuck: subprocess.Popen[str]) -> None:
    """Each removes what the other has just written, and an abandoned draft is as large as the limit."""
    os.kill(stuck.pid, signal.SIGKILL)
    stuck.communicate()
    both = [writer(tmp_path, name, 128 << 10, 40) for name in "ab"]
    assert [process.communicate() for process in both] == [("whole\n", "")] * 2
    kept = [entry for entry in tmp_path.iterdir() if not entry.name.startswith(".")]
    assert kept and drafts(tmp_path) == []


def test_processes_killed_at_any_time_leave_nothing_that_stays(tmp_path: Path) -> None:
    for number in range(6):
        pair = [writer(tmp_path, name, 1 << 20, 10_000) for name in "ab"]
        deadline = time.monotonic() + 30
        while not any(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.03 * number)
        for process in pair:
            process.kill()
            process.communicate()
    store = TraceStore(tmp_path, limit=1 << 20)
    write(store, "last")
    store.prune("last")
    assert drafts(tmp_path) == []
    assert all(store.get(entry.name) is not None for entry in tmp_path.iterdir() if not entry.name.startswith("."))


def test_a_trace_that_is_pruned_as_soon_as_it_is_there_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename: Callable[..., Path] = Path.rename

    def and_another_prunes(path: Path, target: Path) -> Path:
        there = rename(path, target)
        TraceStore(tmp_path, limit=0).prune()
        return there

    monkeypatch.setattr(Path, "rename", and_another_prunes)
    trace = write(TraceStore(tmp_path), "a", 1000)
    assert not (tmp_path / "a").exists() and trace.pc.tolist() == [*range(1000)]


def test_without_locks_age_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_lock: Lock, *, wait: bool = False) -> bool:
        raise WarploomError("this file system has no locks")

    monkeypatch.setattr(Lock, "acquire", none)
    young, old = TraceDraft(tmp_path), TraceDraft(tmp_path)
    os.utime(old.folder, (0, 0))
    sweep(tmp_path)
    assert young.folder.is_dir() and not old.folder.exists()
    young.release()
    assert drafts(tmp_path) == []
