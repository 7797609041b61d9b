"""Many runs over several processes, with the same results whatever their number."""

from __future__ import annotations

import functools
import multiprocessing
import signal
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from warploom.compilation import announce_compilation
from warploom.designs import from_dict
from warploom.machines import Machine
from warploom.policies import CHOICES, load_policy_file
from warploom.result import Result
from warploom.simulation import Executions, simulate
from warploom.workloads.program import PTX, workload_program


@dataclass(frozen=True)
class Task:
    """One run. The design travels to other processes as plain data (`Design.to_dict`)."""

    workload: str
    design: dict[str, Any]
    machine: Machine
    size: str = "small"
    technology: str | None = None
    check: bool = False
    code: str = PTX

    @property
    def compiled_for(self) -> tuple[Any, ...]:
        """What decides the compiled core: tasks of equal value share it."""
        return (*(self.design[choice]["policy"] for choice in CHOICES), self.check)


def run_tasks(tasks: Sequence[Task], jobs: int = 1, policy_files: Sequence[str] = ()) -> Iterator[tuple[int, Result]]:
    """Run every task; results come as they are done, each with its task's place in the list.

    Tasks of the same workload are run one after the other, because designs that share code share one execution.
    """
    order = sorted(range(len(tasks)), key=lambda place: (tasks[place].workload, tasks[place].code, tasks[place].size))
    if jobs <= 1 or len(tasks) < 2:
        for place in order:
            yield place, _run(tasks[place])
        return
    # One of each combination of policies goes first, so that no two workers compile the same.
    first = list({tasks[place].compiled_for: place for place in reversed(order)}.values())
    ahead = set(first)
    rest = [place for place in order if place not in ahead]
    with worker_pool(min(jobs, len(tasks)), policy_files) as pool:
        for places in (first, rest):
            futures = {pool.submit(_run, tasks[place]): place for place in places}
            for future in as_completed(futures):
                yield futures[future], future.result()


@contextmanager
def worker_pool(jobs: int, policy_files: Sequence[str] = ()) -> Iterator[ProcessPoolExecutor]:
    """Worker processes that are not left behind when this one is interrupted or a run fails."""
    # Numba's threads and a fork do not mix, so workers start afresh.
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_begin_worker, initargs=(tuple(policy_files),))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in multiprocessing.active_children():  # also one that the pool has started but not yet counted
            worker.terminate()
        raise
    else:
        pool.shutdown()


def _begin_worker(policy_files: Iterable[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    announce_compilation()
    for file in policy_files:
        load_policy_file(file)


@functools.lru_cache(maxsize=1)
def _executions(workload: str, code: str, size: str) -> Executions:
    return Executions()


def _run(task: Task) -> Result:
    return simulate(
        workload_program(task.workload, task.code),
        from_dict(task.design),
        task.machine,
        size=task.size,
        technology=task.technology,
        check=task.check,
        executions=_executions(task.workload, task.code, task.size),
    )
