"""Stored runs: found alone or in a table, by several at once, and quickly."""

from __future__ import annotations

import hashlib
import io
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet as pq

from support.made_results import made_result
from warploom.base.kept import write_kept_json
from warploom.runs import store as module
from warploom.runs.result import encode
from warploom.runs.store import Store


def result(number: int) -> dict[str, Any]:
    extra = {"only_odd": 1.5} if number % 2 else {"only_even": 2}
    return {"workload": "bfs", "cycles": number, "counters": {"rf_reads": number, **extra}, "launches": [{"kernel": "k"}]}


def key(number: int) -> str:
    return f"{number:032x}"


def test_what_is_folded_is_what_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MERGE_AT", 3)
    store = Store(tmp_path)
    for number in range(40):
        store.save(key(number), encode(result(number)))
        if number % 7 == 6:
            store.fold()
    assert len(list(tmp_path.glob("runs-*.parquet"))) < 3 and len(list(tmp_path.glob("*.json"))) == 5
    fresh = Store(tmp_path)
    assert fresh.keys() == {key(number) for number in range(40)}
    assert all(fresh.load(key(number)) == result(number) for number in range(40))
    rows = {row["key"]: row for row in fresh.rows().to_pylist()}
    assert {row["cycles"] for row in rows.values()} == set(range(40))
    assert rows[key(3)]["counters.only_odd"] == 1.5 and rows[key(4)]["counters.only_odd"] is None


def test_a_result_that_is_saved_again_replaces_the_folded_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(key(1), encode(result(1)))
    store.fold()
    store.save(key(1), encode(result(3)))
    assert Store(tmp_path).load(key(1)) == result(3)
    assert store.rows()["cycles"].to_pylist() == [3]
    store.fold()
    assert Store(tmp_path).load(key(1)) == result(3)
    assert store.rows()["cycles"].to_pylist() == [3]


def test_nothing_is_lost_or_hidden_while_several_write_and_fold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was saved is there from then on, whoever folds and merges in the meantime."""
    monkeypatch.setattr(module, "MERGE_AT", 2)
    wrong: list[str] = []

    def work(part: int) -> None:
        store, random, own = Store(tmp_path), Random(part), []
        for number in range(part * 1000, part * 1000 + 25):
            store.save(key(number), encode(result(number)))
            own.append(number)
            if random.random() < 0.3:
                store.fold()
            asked = random.choice(own)
            if key(asked) not in store or store.load(key(asked)) != result(asked):
                wrong.append(f"{asked} is not there")

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(Store(tmp_path).keys()) == 100 and len(Store(tmp_path).rows()) == 100


def test_a_result_may_be_folded_before_its_writer_looks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process folds whenever it likes: also just after the file of a result was written."""
    write = module.write_as_it_is

    def folded_at_once(path: Path, data: bytes) -> None:
        write(path, data)
        Store(tmp_path).fold()
        assert not path.exists()

    monkeypatch.setattr(module, "write_as_it_is", folded_at_once)
    store = Store(tmp_path)
    store.save(key(1), encode(result(1)))
    assert store.load(key(1)) == result(1)


def test_many_runs_are_listed_and_loaded_quickly(tmp_path: Path) -> None:
    number = 1000  # of 10,000 that may take 2 s; the writing takes longer
    store = Store(tmp_path)
    for each in range(number):
        counters = {f"counter_{place}": each + place for place in range(100)}
        store.save(key(each), encode(result(each) | {"counters": counters}))
    store.fold()
    began = time.perf_counter()
    fresh = Store(tmp_path)
    assert len(fresh.keys()) == number and len(fresh.rows()) == number
    assert time.perf_counter() - began < 2


def test_the_samples_of_a_result_are_not_copied_before_they_are_written() -> None:
    """There are thousands, and whoever gives runs to many workers has to write the results of all of them."""
    made = made_result(power=[{"seconds": 1.0}], states=[{"live": 0.5}])
    written = made.to_dict(power=True)
    assert written["power"] is made.power and written["states"] is made.states
    assert "power" not in made.to_dict() and "states" not in made.to_dict()


def parquet(folder: Path, **columns: list[Any]) -> Path:
    """A table whose name says rightly what its contents digest to."""
    data = io.BytesIO()
    pq.write_table(pyarrow.table(columns), data)
    return named(folder, data.getvalue())


def named(folder: Path, data: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / f"runs-{hashlib.sha256(data).hexdigest()[:32]}.parquet"
    file.write_bytes(data)
    return file


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: named(folder, b"not a table"),
        lambda folder: named(folder, b""),
        lambda folder: parquet(folder, other=[1]),
        lambda folder: parquet(folder, key=["a"], cycles=[1]),
    ],
    ids=["no Parquet", "empty", "other columns", "no results"],
)
def test_what_is_no_table_of_ours_counts_as_not_there(spoil: Callable, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Store(tmp_path).save("b", encode({"cycles": 2}))
    file = spoil(tmp_path)
    assert Store(tmp_path).keys() == {"b"} and Store(tmp_path).rows()["key"].to_pylist() == ["b"]
    assert Store(tmp_path).load("a") is None and not file.exists()
    assert capfd.readouterr().err.count("it was damaged and is removed") == 1


@pytest.mark.parametrize("whole", ["no JSON", "[]", "3", "{}", '{"provenance": {}}', "[" * 100_000, None])
def test_a_row_that_is_no_result_counts_as_not_there(whole: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = parquet(tmp_path, key=["a"], result=[whole])
    assert Store(tmp_path).load("a") is None and not file.exists()
    assert "it was damaged and is removed" in capfd.readouterr().err
    write_kept_json(tmp_path / "a.json", [1])
    assert Store(tmp_path).load("a") is None
