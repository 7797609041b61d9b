"""How many runs a minute one Dask worker makes, and how many two make: ``python scripts/cluster_throughput.py``.

Each worker is a process of this machine, which must have a core for it and should be idle otherwise. Every run has inputs of its
own, so that no kept trace makes one set quicker than the other. Prints both rates with the share of the workers' time that was
spent in runs (the rest is the cluster's own), and the ratio of the rates; exit code 1 below 1.8.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from warploom.designs import design
from warploom.machines import load_machine
from warploom.simulation.task import Task
from warploom.sweeps.cluster import cluster_workers
from warploom.sweeps.engine import load_results, perform
from warploom.sweeps.store import Store

WANTED = 1.8
RUNS = 150  # so many that the end, where one worker waits for the last run of the other, does not count
FIRST_SEED = int(time.time())  # no run of an earlier measurement is found in the cache


def tasks(first: int, number: int) -> list[Task]:
    """Runs of a second or so: inputs, execution and timing of a kernel."""
    machine, plain = load_machine("gtx480").scaled(4), design("baseline").to_dict()
    return [Task("bfs", plain, machine, "small", seed=FIRST_SEED + seed) for seed in range(first, first + number)]


def rate(workers: int, first_seed: int) -> tuple[float, float]:
    """Runs a minute on so many workers, which have compiled before the clock starts, and the share of their time in runs."""
    from distributed import LocalCluster

    about = {"threads_per_worker": 1, "dashboard_address": None, "worker_dashboard_address": None, "silence_logs": 50}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=workers, **about) as cluster,
        cluster_workers(cluster.scheduler_address) as hired,
    ):
        store = Store(Path(folder))
        perform(tasks(first_seed, 4 * workers), store, hired, lambda task: None)
        measured = tasks(first_seed + 100, RUNS)
        began = time.perf_counter()
        perform(measured, store, hired, lambda task: None)
        seconds = time.perf_counter() - began
        in_runs = sum(result["wall_seconds"] for result in load_results(measured, store))
        return 60 * RUNS / seconds, in_runs / (workers * seconds)


def main() -> int:
    """Measure and print."""
    (one, busy), (two, both_busy) = rate(1, 0), rate(2, 1000)
    print(f"one worker: {one:.1f} runs a minute, {busy:.1%} of its time in runs")
    print(f"two workers: {two:.1f} runs a minute, {both_busy:.1%} of their time in runs: {two / one:.2f} times as many")
    return 0 if two >= WANTED * one else 1


if __name__ == "__main__":
    sys.exit(main())
