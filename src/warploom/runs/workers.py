"""Where runs are made: in this process, or in several of this machine. Anything with the same two members can stand in."""

from __future__ import annotations

import functools
import hashlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from warploom.errors import WarploomError
from warploom.jit.announcement import announce_compilation
from warploom.library import load_paper, outside_folders
from warploom.register_file import load_policy_file
from warploom.register_file.user_files import loaded_policy_files
from warploom.simulation.result import Result
from warploom.simulation.task import Task, run_task
from warploom.storage.cache import cache_directory, try_cache
from warploom.storage.kept import already_said, say_no_more
from warploom.storage.locks import Lock

PolicyFiles = tuple[tuple[str, str], ...]  # path and digest
Taken = TypeVar("Taken")


class Workers(Protocol):
    """Takes tasks; each becomes what is taken of its result, or the `WarploomError` that refuses it."""

    @property
    def slots(self) -> int:
        """How many tasks it wants to have at a time."""
        ...

    def submit(self, task: Task, take: Callable[[Result], Taken]) -> Future[Taken]:
        """Begin a task. ``take``, a function of a module, is called where the result is; no more than it gives travels."""
        ...


class Here:
    """Runs in this process, one at a time, while they are submitted."""

    slots = 1

    def submit(self, task: Task, take: Callable[[Result], Taken]) -> Future[Taken]:
        future: Future[Taken] = Future()
        try:
            future.set_result(take(_run(task)))
        except WarploomError as error:
            future.set_exception(error)
        return future


class Processes:
    """Runs in the processes of a pool."""

    def __init__(self, pool: ProcessPoolExecutor, jobs: int) -> None:
        self.slots = jobs
        self._pool = pool
        self._files = policy_files()

    def submit(self, task: Task, take: Callable[[Result], Taken]) -> Future[Taken]:
        with _interrupts_held_back():
            return self._pool.submit(run_in_worker, task, take, self._files)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """What is typed to interrupt us reaches us a moment later, and not at all the processes that are started meanwhile.

    A terminal sends it to them too; while they are still importing they would answer with a traceback. We end them ourselves.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def local_workers(jobs: int) -> Iterator[Workers]:
    """So many processes of this machine; this one alone for one."""
    if jobs <= 1:
        yield Here()
        return
    with worker_pool(jobs) as pool:
        yield Processes(pool, jobs)


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


def policy_files() -> PolicyFiles:
    """The users' policy files that this process has loaded, for its workers to load too."""
    return tuple((str(file.path), file.digest) for file in loaded_policy_files())


def run_in_worker(task: Task, take: Callable[[Result], Taken], files: PolicyFiles) -> Taken:
    """Make a run in another process than the one that asked for it."""
    _load_policies(files)
    return take(_run(task))


def _run(task: Task) -> Result:
    with _first_of_machine(task.compiled_for):
        result = run_task(task)
    _compiled.add(task.compiled_for)
    return result


@functools.cache
def _load_policies(files: PolicyFiles) -> None:
    """Load what the parent has loaded, exactly."""
    for path, _ in files:
        load_policy_file(path)
    if policy_files() != files:
        raise WarploomError(f"{', '.join(path for path, _ in files)}: edited since the run began; start again")


_compiled: set[tuple[Any, ...]] = set()  # combinations that this process has the code of


@contextmanager
def _first_of_machine(combination: tuple[Any, ...]) -> Iterator[None]:
    """Let one process of those that share a cache compile a combination of policies; the others then find it there."""
    lock = None if combination in _compiled else _compilation_lock(combination)
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def _compilation_lock(combination: tuple[Any, ...]) -> Lock | None:
    """The lock of a combination, once nobody else holds it; None where there can be none, and everybody compiles."""
    try:
        folder = cache_directory("locks")
        folder.mkdir(parents=True, exist_ok=True)
        lock = Lock(folder / hashlib.sha256(repr(combination).encode()).hexdigest()[:32])
        lock.acquire(wait=True)
        return lock
    except (OSError, WarploomError):
        return None
