"""Runs on the workers of a Dask cluster: the same results, also when a worker is killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pandas
import pytest

import warploom as wl
from support.sweeping import begin, outcome
from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.runs.cluster import COUNT_SECONDS, WORKER_SETTINGS, Cluster
from warploom.runs.engine import Asked
from warploom.runs.store import Store
from warploom.studies.reproduce.reproduce import reproduce, runs_of, scorecard, select

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
PLAN = {"workloads": "vectoradd", "sizes": "tiny", "sms": 1, "replicates": 12}


def test_a_killed_worker_costs_its_runs_and_nothing_else(tmp_path: Path) -> None:
    wl.sweep(PLAN, tmp_path / "here", jobs=1)
    with (
        dask.config.set(WORKER_SETTINGS),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, worker_dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = set(client.run(os.getpid).values())
        done: list[str] = []
        lock = threading.Lock()

        def kill_one(task: object) -> None:
            with lock:
                done.append("one")
                if len(done) == 3:
                    os.kill(min(before), signal.SIGKILL)

        made = wl.sweep(PLAN, tmp_path / "there", scheduler=cluster.scheduler_address, step=kill_one)
        assert len(done) == 12 and not made.refused
    pandas.testing.assert_frame_equal(outcome(tmp_path / "there"), outcome(tmp_path / "here"))


def test_a_lost_scheduler_is_one_sentence_and_the_sweep_goes_on(tmp_path: Path) -> None:
    plan, folder = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in PLAN.items()))
    about: dict[str, Any] = {"dashboard_address": None, "worker_dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, **about) as cluster:
        process = begin(plan, "--out", folder, "--scheduler", cluster.scheduler_address)
        while process.poll() is None and not list((folder / "runs").glob("*.json")):
            time.sleep(0.01)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 2 and "Traceback" not in said
    assert said.splitlines()[-1].endswith("the Dask scheduler is lost; start again to go on")
    assert len(wl.sweep(plan, folder, jobs=1).table()) == 12


def test_figures_are_reproduced_by_a_cluster_as_they_are_here(tmp_path: Path) -> None:
    selected, told = select("rfv", "figure 1"), (lambda task: None, None, None)

    def asked(folder: str) -> Asked:
        return Asked(runs_of(selected, "tiny"), Store(tmp_path / folder))

    here = scorecard(list(reproduce(selected, "tiny", asked("here"), 1, *told)))
    about: dict[str, Any] = {"dashboard_address": None, "worker_dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **about) as cluster:
        address = cluster.scheduler_address
        there = scorecard(list(reproduce(selected, "tiny", asked("there"), 1, *told, scheduler=address)))
    assert [score.ours for score in there] == [score.ours for score in here] != []
    again = reproduce(selected, "tiny", asked("there"), 1, *told, scheduler="tcp://127.0.0.1:9")
    assert len(list(again)) == 1  # all is stored, and nobody is asked


@pytest.mark.parametrize("command", [["reproduce", "rfv", "--figure", "1"], ["report", "--workloads", "vectoradd"]])
def test_whatever_makes_many_runs_takes_a_scheduler(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command([*command, "--size", "tiny", "--scheduler", "nonsense"]) == 2
    assert "--scheduler nonsense: it is not an address such as tcp://host:8786" in capsys.readouterr().err


def test_workers_heed_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    mallocs = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")
    for name in mallocs:  # Dask leaves them behind, and prefers what is there
        monkeypatch.delenv(name, raising=False)
    told = [name for name in WORKER_SETTINGS if "environ" not in name]
    assert all(dask.config.get(name) != WORKER_SETTINGS[name] for name in told)  # Dask knows each, and says otherwise

    def found(dask_worker: Any) -> list[Any]:
        return [*map(os.environ.get, mallocs), "profile" in dask_worker.periodic_callbacks]

    about = {"n_workers": 1, "dashboard_address": None, "worker_dashboard_address": None, "silence_logs": 50}
    with (
        dask.config.set(WORKER_SETTINGS),
        distributed.LocalCluster(**about) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert list(client.run(found).values()) == [[str(256 << 20), str(32 << 20), False]]


def test_the_scheduler_is_not_asked_for_its_workers_with_every_run() -> None:
    class Client:
        asked = 0

        def nthreads(self) -> dict[str, int]:
            self.asked += 1
            return {"one": 1, "another": 1}

    client, passed = Client(), [0.0]
    cluster = Cluster(client, "tcp://somewhere", clock=lambda: passed[0])
    assert [cluster.slots for _ in range(100)] == [4] * 100 and client.asked == 1
    passed[0] += COUNT_SECONDS
    assert cluster.slots == 4 and client.asked == 2


def test_no_scheduler_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warploom.runs.cluster.CONNECT_SECONDS", 1)
    with pytest.raises(WarploomError, match=r"--scheduler tcp://127\.0\.0\.1:9: no Dask scheduler answers there"):
        wl.sweep(PLAN, tmp_path, scheduler="tcp://127.0.0.1:9")
    for address in ("nonsense", "tcp://host", "foo://host:8786"):
        with pytest.raises(WarploomError, match=f"--scheduler {address}: it is not an address such as tcp://host:8786"):
            wl.sweep(PLAN, tmp_path, scheduler=address)
    wl.sweep(PLAN | {"replicates": 1}, tmp_path, jobs=1)
    assert len(wl.sweep(PLAN | {"replicates": 1}, tmp_path, scheduler="tcp://127.0.0.1:9").table()) == 1  # all is stored
