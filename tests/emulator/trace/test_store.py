"""Traces on disk: what is written is read back, complete or not at all, within the bound."""

from __future__ import annotations

import gc
import os
from mmap import mmap
from pathlib import Path

import numpy as np
import pytest

from warploom.base.errors import WarploomError
from warploom.base.kept import read_kept_json
from warploom.emulator.trace import store as module
from warploom.emulator.trace.format import START_DTYPE, Trace
from warploom.emulator.trace.store import COLUMNS, TraceStore


def write(store: TraceStore, key: str, length: int = 1000) -> Trace:
    writer = store.write(key, "k", (2, 1, 1), (32, 1, 1), 1)
    for _ in range(2):
        writer.append(
            pc=np.arange(length),
            mask=np.full(length, 0xFFFFFFFF),
            value=np.arange(length),
            memory=np.zeros(0),
            start=np.array([(writer.lengths["pc"], writer.lengths["value"], 0, 0)], START_DTYPE),
        )
    return writer.finish()


def on_disk(trace: Trace) -> bool:
    """Whether a trace's columns are files that are mapped."""
    return isinstance(trace.pc.base, memoryview) and isinstance(trace.pc.base.obj, mmap)


def test_round_trip(tmp_path: Path) -> None:
    store = TraceStore(tmp_path)
    write(store, "a")
    trace = store.get("a")
    assert trace is not None
    assert (trace.kernel, trace.grid, trace.block, trace.warps_per_cta) == ("k", (2, 1, 1), (32, 1, 1), 1)
    assert trace.pc.tolist() == [*range(1000), *range(1000)]
    assert trace.start["instruction"].tolist() == [0, 1000, 2000]
    assert len(trace.memory) == len(trace.sector) == 0
    assert on_disk(trace)
    for name, dtype in COLUMNS.items():  # plain files that NumPy reads by itself
        assert np.load(tmp_path / "a" / f"{name}.npy", allow_pickle=False).dtype == dtype


def test_absent_and_broken_traces_are_not_there(tmp_path: Path) -> None:
    store = TraceStore(tmp_path)
    assert store.get("a") is None
    write(store, "a")
    (tmp_path / "a" / "pc.npy").write_bytes(b"nonsense")
    assert store.get("a") is None


def test_a_small_trace_stays_in_memory(tmp_path: Path) -> None:
    written = write(TraceStore(tmp_path / "disk"), "a")
    store = TraceStore(tmp_path / "memory", small=100_000)
    in_memory = write(store, "a")
    assert store.root is not None and not store.root.exists() and store.get("a") is None
    for name, dtype in COLUMNS.items():
        column = getattr(in_memory, name)
        assert column.dtype == dtype and not column.flags.writeable
        assert column.tolist() == getattr(written, name).tolist()


def test_a_trace_that_grows_large_goes_to_the_disk(tmp_path: Path) -> None:
    store = TraceStore(tmp_path, small=15_000)  # less than both pieces of it, more than one
    grown = write(store, "a")
    assert on_disk(grown) and store.get("a") is not None
    assert grown.pc.tolist() == [*range(1000), *range(1000)] and grown.start["instruction"].tolist() == [0, 1000, 2000]


def test_small_traces_together_stay_within_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    before = module._in_memory
    monkeypatch.setattr(module, "MOST_IN_MEMORY", before + 50_000)
    store = TraceStore(tmp_path, small=40_000)
    traces = [write(store, key) for key in "abc"]
    assert [on_disk(trace) for trace in traces] == [False, False, True]
    assert before < module._in_memory <= before + 50_000
    traces.clear()
    gc.collect()
    assert module._in_memory == before
    assert not on_disk(write(store, "d"))


def test_an_abandoned_trace_leaves_nothing(tmp_path: Path) -> None:
    store = TraceStore(tmp_path)
    store.write("a", "k", (1, 1, 1), (32, 1, 1), 1).abandon()
    assert list(tmp_path.iterdir()) == []


def test_the_oldest_go_first(tmp_path: Path) -> None:
    store = TraceStore(tmp_path, limit=95_000)
    for number, key in enumerate("abcd"):
        write(store, key)
        os.utime(tmp_path / key, (number, number))
    store.get("b")  # now the youngest
    write(store, "e")
    left = {folder.name for folder in tmp_path.iterdir()}
    assert "e" in left and "b" in left and "a" not in left
    size = sum(file.stat().st_size for file in tmp_path.rglob("*.npy"))
    assert size <= 95_000


def test_not_every_trace_costs_a_look_at_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    prune = TraceStore.prune

    def looked(store: TraceStore, keep: str = "") -> None:
        looks.append(keep)
        prune(store, keep)

    monkeypatch.setattr(TraceStore, "prune", looked)
    for number in range(40):  # of some 32 KB each, with a limit of which 256 KB are a part
        write(TraceStore(tmp_path, limit=4 << 20), f"{number:02}")  # a store for each, as processes have
    assert 3 <= len(looks) <= 6
    write(TraceStore(tmp_path, limit=200_000), "last")
    assert sum(file.stat().st_size for file in tmp_path.rglob("*.npy")) <= 200_000


def test_the_limit_holds_between_two_looks(tmp_path: Path) -> None:
    store = TraceStore(tmp_path, limit=256 << 10)
    for number in range(150):  # of some 3 KB each, of which several are a part of the limit
        write(store, str(number), length=10)
        assert sum(file.stat().st_size for file in tmp_path.glob("*/*")) <= store.limit


def test_two_writers_of_one_trace(tmp_path: Path) -> None:
    store = TraceStore(tmp_path)
    write(store, "a", 10)
    write(store, "a", 10)
    assert [folder.name for folder in tmp_path.iterdir() if folder.is_dir()] == ["a"]


def test_a_trace_that_comes_while_one_looks_for_it_is_not_taken_for_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another process may put it there between the look at its record, which is not there yet, and the look at its folder."""
    store = TraceStore(tmp_path)
    reads: list[Path] = []

    def read_late(path: Path, within: Path) -> object:
        if not reads:
            reads.append(path)
            found = read_kept_json(path, within)
            write(TraceStore(tmp_path), "a")
            return found
        return read_kept_json(path, within)

    monkeypatch.setattr("warploom.emulator.trace.store.read_kept_json", read_late)
    assert store.get("a") is not None
    assert "damaged" not in capsys.readouterr().err and (tmp_path / "a").is_dir()


def test_a_bad_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_TRACE_LIMIT", "lots")
    try:
        TraceStore(tmp_path)
    except WarploomError as error:
        assert "WARPLOOM_TRACE_LIMIT" in str(error)
    else:
        raise AssertionError("the limit was accepted")
