"""Stored runs: found alone or in a table, by several at once, and quickly."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from warploom.simulation.result import Result, encode
from warploom.sweeps import store as module
from warploom.sweeps.store import Store


def result(number: int) -> dict[str, Any]:
    extra = {"only_odd": 1.5} if number % 2 else {"only_even": 2}
    return {"workload": "bfs", "cycles": number, "counters": {"rf_reads": number, **extra}, "kernels": [{"kernel": "k"}]}


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
    named = dict.fromkeys(("workload", "machine", "size", "technology"), "x")
    counted = ("cycles", "warp_instructions", "ctas_per_sm", "registers_per_thread", "register_file_bytes", "storage_bits")
    numbers = dict.fromkeys((*counted, "ipc", "occupancy", "wall_seconds"), 1)
    about: dict[str, Any] = {**named, **numbers, "design": {}, "counters": {}, "energy_pj": {}}
    made = Result(**about, verified=None, checked=False, power=[{"seconds": 1.0}], states=[{"live": 0.5}])
    written = made.to_dict(power=True)
    assert written["power"] is made.power and written["states"] is made.states
    assert "power" not in made.to_dict() and "states" not in made.to_dict()
