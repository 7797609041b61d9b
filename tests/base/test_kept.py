"""Every kind of file that Warploom keeps, damaged: what was kept is made again, and one line says so."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.damage import DAMAGES, damage
from warploom.base.kept import read_kept, read_kept_json, write_kept, write_kept_json
from warploom.emulator.trace.format import Trace
from warploom.emulator.trace.store import COLUMNS, TraceStore
from warploom.jit import whole
from warploom.programs.device import Device
from warploom.programs.program import workload_program
from warploom.runs.result import encode
from warploom.runs.store import Store
from warploom.show.assemble import read_scores
from warploom.show.reproduction import SCORECARD

each_damage = pytest.mark.parametrize("how", DAMAGES, ids=lambda how: how.__name__)


@pytest.fixture
def lines(capfd: pytest.CaptureFixture[str]) -> Callable[[], list[str]]:
    """What has been said on standard error since the last look."""
    return lambda: capfd.readouterr().err.splitlines()


def traced(folder: Path) -> Trace:
    """The trace of a real launch, made or taken from a store; its columns are copied."""
    device = Device(workload_program("vectoradd").module(), record=TraceStore(folder))
    a = device.array(np.arange(512, dtype=np.float32))
    b = device.array(np.ones(512, np.float32))
    out = device.array(np.zeros(512, np.float32))
    device.launch("vectoradd", (4,), (128,), a, b, out, np.int32(500))
    trace = device.launches[0].trace
    assert trace is not None
    return trace


def same(first: Trace, second: Trace) -> bool:
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in COLUMNS)


@pytest.mark.compiled
@each_damage
@pytest.mark.parametrize("file", [*(f"{name}.npy" for name in COLUMNS), "trace.json"])
def test_a_trace(tmp_path: Path, lines: Any, file: str, how: Callable) -> None:
    """Also in the process that has read it before."""
    expected = traced(tmp_path / "sound")
    trace = traced(tmp_path / "damaged")
    folder = tmp_path / "damaged" / trace.key
    del trace
    lines()
    damage(folder / file, how)
    again = traced(tmp_path / "damaged")
    assert same(again, expected)
    assert len(lines()) == 1
    assert same(traced(tmp_path / "damaged"), expected)
    assert lines() == []  # it is whole again
    assert [entry.name for entry in (tmp_path / "damaged").iterdir() if entry.is_dir()] == [again.key]


@pytest.mark.compiled
@pytest.mark.parametrize("file", ["pc.npy", "trace.json"])
def test_a_trace_with_a_lost_file(tmp_path: Path, lines: Any, file: str) -> None:
    expected = traced(tmp_path / "sound")
    trace = traced(tmp_path / "damaged")
    (tmp_path / "damaged" / trace.key / file).unlink()
    lines()
    assert same(traced(tmp_path / "damaged"), expected)
    assert len(lines()) == 1
    assert same(traced(tmp_path / "damaged"), expected)
    assert lines() == []


def compiled(folder: Path) -> tuple[int, int]:
    """What a function gives that is compiled or taken from the disk, and how often it was taken."""
    source = folder / "answering.py"
    source.write_text("def answer(number):\n    return number + 37\n")
    spec = importlib.util.spec_from_file_location("answering", source)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["answering"] = module
    spec.loader.exec_module(module)
    answer = whole(module.answer)
    return answer(5), sum(answer.stats.cache_hits.values())


@each_damage
def test_compiled_code(tmp_path: Path, lines: Any, monkeypatch: pytest.MonkeyPatch, how: Callable) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    assert compiled(tmp_path) == (42, 0)
    assert compiled(tmp_path) == (42, 1)
    (file,) = (file for file in (tmp_path / "cache").rglob("*") if file.is_file())
    lines()
    damage(file, how)
    assert compiled(tmp_path) == (42, 0)
    assert [line for line in lines() if str(file) in line and "damaged" in line]
    assert compiled(tmp_path) == (42, 1)
    assert lines() == []


@each_damage
def test_a_stored_run(tmp_path: Path, lines: Any, how: Callable) -> None:
    store, key = Store(tmp_path), "0123456789abcdef"
    result = {"cycles": 123, "energy_pj": {"total": 0.1}, "name": "é"}
    store.save(key, encode(result))
    assert store.load(key) == result and store.keys() == {key}
    (file,) = tmp_path.iterdir()
    assert json.loads(file.read_text("utf-8"))["content"] == result  # a plain file, for anybody to read
    damage(file, how)
    assert store.keys() == set()
    assert len(lines()) == 1
    assert store.load(key) is None
    store.save(key, encode(result))
    assert store.load(key) == result
    assert lines() == []


@each_damage
def test_a_table_of_stored_runs(tmp_path: Path, lines: Any, how: Callable) -> None:
    results = {f"{number:032x}": {"cycles": number, "energy_pj": {"total": number / 3}} for number in range(5)}
    for key, result in results.items():
        Store(tmp_path).save(key, encode(result))
    Store(tmp_path).fold()
    keys = Store(tmp_path).keys()
    assert {key: Store(tmp_path).load(key) for key in keys} == results
    (file,) = tmp_path.iterdir()
    damage(file, how)
    assert Store(tmp_path).keys() == set()
    assert len(lines()) == 1
    assert list(tmp_path.iterdir()) == []


@each_damage
def test_the_scorecard(tmp_path: Path, lines: Any, how: Callable) -> None:
    row = {"id": "rfv.live-share", "paper": 3.0, "ours": 2.5}
    write_kept_json(tmp_path / SCORECARD, [row])
    assert read_scores(tmp_path) == {"rfv": [row]}
    damage(tmp_path / SCORECARD, how)
    assert read_scores(tmp_path) == {}
    assert len(lines()) == 1


@given(st.binary(max_size=50), st.data())
def test_no_flipped_bit_goes_unnoticed(tmp_path_factory: pytest.TempPathFactory, content: bytes, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("kept") / "file"
    write_kept(path, content)
    assert read_kept(path) == content
    raw = bytearray(path.read_bytes())
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(raw)
    assert read_kept(path) is None
    assert not path.exists()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(values.filter(lambda value: value is not None), st.data())
def test_no_flipped_bit_changes_a_value(tmp_path_factory: pytest.TempPathFactory, content: Any, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("kept") / "file.json"
    write_kept_json(path, content)
    assert read_kept_json(path) == content
    raw = bytearray(path.read_bytes())
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(raw)
    kept = read_kept_json(path)  # a space between two values may have become another
    assert kept is None or repr(kept) == repr(content)
