"""How many runs a minute one Dask worker makes, and how many two make: ``warploom-lab cluster-throughput``.

Each worker is a process of this machine, which must have a core for it and should be idle otherwise. Every run has inputs of its
own, so that no kept trace makes one set quicker than the other. Workers have the settings that docs/how-to/cluster.md recommends.

Prints both rates, each with the share of the workers' time that was spent in runs, with what a run cost all processes of the
cluster in CPU time, and with the cores that were busy with something else. Then the ratio of the rates; exit code 1 below 1.8,
and 2 where more than a tenth of a core was busy with something else, so that the ratio says nothing.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from warploom.chip.machines import load_machine
from warploom.designs import design
from warploom.programs.named import origin_named
from warploom.runs.cluster import WORKER_SETTINGS, cluster_workers
from warploom.runs.engine import Asked
from warploom.runs.spec import RunSpec
from warploom.runs.store import Store

WANTED = 1.8
MOST_OTHERS = 0.1  # cores
RUNS = 150  # so many that the end, where one worker waits for the last run of the other, does not count
FIRST_SEED = int(time.time())  # no run of an earlier measurement is found in the cache


def specs(first: int, number: int) -> list[RunSpec]:
    """Runs of a second or so: inputs, execution and timing of a kernel."""
    usual = RunSpec(origin_named("bfs"), design("baseline"), load_machine("gtx480").scaled(4))
    return [usual.vary("seed", FIRST_SEED + seed) for seed in range(first, first + number)]


@dataclass(frozen=True)
class Rate:
    """What so many workers achieve."""

    runs_a_minute: float
    in_runs: float  # share of the workers' time
    cpu_ms: float  # of a run, over all processes of the cluster
    others: float  # cores that were busy with something else

    def __str__(self) -> str:
        own = f"{self.in_runs:.1%} of the time in runs, {self.cpu_ms:.0f} ms of CPU time a run"
        return f"{self.runs_a_minute:.1f} runs a minute, {own}; {self.others:.2f} cores busy with other things"


def cpu_seconds() -> tuple[float, float]:
    """CPU time so far: of this process with its workers, and of the whole machine."""
    this = psutil.Process()
    own = sum(sum(each.cpu_times()[:2]) for each in (this, *this.children(recursive=True)))
    machine = psutil.cpu_times()
    return own, sum(machine) - machine.idle - machine.iowait


def rate(workers: int, first_seed: int) -> Rate:
    """What so many workers achieve, which have compiled before the clock starts."""
    import dask
    from distributed import LocalCluster

    about = {"threads_per_worker": 1, "dashboard_address": None, "worker_dashboard_address": None, "silence_logs": 50}
    with (
        tempfile.TemporaryDirectory() as folder,
        dask.config.set(WORKER_SETTINGS),
        LocalCluster(n_workers=workers, **about) as cluster,
        cluster_workers(cluster.scheduler_address) as hired,
    ):
        store = Store(Path(folder))
        Asked(specs(first_seed, 4 * workers), store).make(hired)
        measured = Asked(specs(first_seed + 100, RUNS), store)
        own_before, all_before = cpu_seconds()
        began = time.perf_counter()
        measured.make(hired)
        seconds = time.perf_counter() - began
        own, everything = (after - before for after, before in zip(cpu_seconds(), (own_before, all_before), strict=True))
        in_runs = sum(result.wall_seconds + result.compile_seconds for result in measured.results)
        return Rate(60 * RUNS / seconds, in_runs / (workers * seconds), 1000 * own / RUNS, (everything - own) / seconds)


def main() -> int:
    """Measure and print."""
    one = rate(1, 0)
    print(f"one worker: {one}", flush=True)
    two = rate(2, 1000)
    ratio = two.runs_a_minute / one.runs_a_minute
    print(f"two workers: {two}\n{ratio:.2f} times as many runs")
    if max(one.others, two.others) > MOST_OTHERS:
        print("the machine was not idle: measure again")
        return 2
    return 0 if ratio >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
