"""Many runs over several processes, with the same results whatever their number."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warploom.designs import from_dict
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.errors import WarploomError
from warploom.jit.announcement import announce_compilation
from warploom.library import load_paper, outside_folders
from warploom.machines import Machine
from warploom.register_file import CHOICES, load_policy_file
from warploom.register_file.user_files import loaded_policy_files
from warploom.simulation.execution import Executions
from warploom.simulation.result import Result
from warploom.simulation.simulate import simulate
from warploom.storage.cache import try_cache
from warploom.storage.kept import already_said, say_no_more
from warploom.workloads.program import workload_program


@dataclass(frozen=True)
class Task:
    """One run. The design travels to other processes as plain data (`Design.to_dict`)."""

    workload: str
    design: dict[str, Any]
    machine: Machine
    size: str = "small"
    technology: str | None = None
    check: bool = False
    max_instructions: int = DEFAULT_BUDGET
    code: str | None = None  # what is executed; else the machine's usual code

    @property
    def executed(self) -> str:
        """The code that is executed."""
        return self.code or self.machine.code

    @property
    def compiled_for(self) -> tuple[Any, ...]:
        """What decides the compiled core: tasks of equal value share it."""
        return (*(self.design[choice]["policy"] for choice in CHOICES), self.check)


def run_tasks(tasks: Sequence[Task], jobs: int = 1) -> Iterator[tuple[int, Result]]:
    """Run every task; results come as they are done, each with its task's place in the list.

    Policies of users' files are those that this process has loaded.

    Tasks of the same workload are run one after the other, because designs that share code share one execution.
    """
    order = sorted(range(len(tasks)), key=lambda place: (tasks[place].workload, tasks[place].executed, tasks[place].size))
    if jobs <= 1 or len(tasks) < 2:
        for place in order:
            yield place, _run(tasks[place])
        return
    # One of each combination of policies goes first, so that no two workers compile the same.
    first = list({tasks[place].compiled_for: place for place in reversed(order)}.values())
    ahead = set(first)
    rest = [place for place in order if place not in ahead]
    files = tuple((str(file.path), file.digest) for file in loaded_policy_files())
    with worker_pool(min(jobs, len(tasks))) as pool:
        for places in (first, rest):
            futures = {pool.submit(_run_in_worker, tasks[place], files): place for place in places}
            for future in as_completed(futures):
                yield futures[future], future.result()


@contextmanager
def worker_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes that are not left behind when this one is interrupted or killed, or when a run fails."""
    try_cache()  # so that it is this process that says if there is none
    # Numba's threads and a fork do not mix, so workers start afresh.
    spawn = multiprocessing.get_context("spawn")
    known = (already_said(), outside_folders())
    pool = ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_begin_worker, initargs=known)
    try:
        yield pool
    except BrokenProcessPool:
        raise WarploomError("a worker process was ended from outside, perhaps for want of memory: try fewer --jobs") from None
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in multiprocessing.active_children():  # also one that the pool has started but not yet counted
            worker.terminate()
        raise
    else:
        pool.shutdown()


def _begin_worker(said: frozenset[str], paper_folders: Iterable[Path]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    say_no_more(said)
    announce_compilation()
    for folder in paper_folders:
        load_paper(folder)


def _end_with_parent() -> None:
    """A parent that is killed cannot end its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_in_worker(task: Task, policy_files: tuple[tuple[str, str], ...]) -> Result:
    _load_policies(policy_files)
    return _run(task)


@functools.cache
def _load_policies(policy_files: tuple[tuple[str, str], ...]) -> None:
    """Load what the parent has loaded, exactly."""
    for path, _ in policy_files:
        load_policy_file(path)
    if tuple((str(file.path), file.digest) for file in loaded_policy_files()) != policy_files:
        raise WarploomError(f"{', '.join(path for path, _ in policy_files)}: edited since the run began; start again")


@functools.lru_cache(maxsize=1)
def _executions(workload: str, code: str, size: str) -> Executions:
    return Executions()


def _run(task: Task) -> Result:
    return simulate(
        workload_program(task.workload, task.executed),
        from_dict(task.design),
        task.machine,
        size=task.size,
        technology=task.technology,
        check=task.check,
        max_instructions=task.max_instructions,
        executions=_executions(task.workload, task.executed, task.size),
    )
