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

from warploom.base.cache import Cache, try_cache
from warploom.base.cores import asked_threads, use_threads
from warploom.base.errors import WarploomError
from warploom.base.files import abandon_drafts
from warploom.base.kept import already_said, say_no_more
from warploom.base.library import load_paper, outside_folders
from warploom.base.locks import Lock
from warploom.chip.sm import load_policy_file
from warploom.chip.sm.user_files import loaded_policy_files
from warploom.jit.announcement import announce_compilation
from warploom.runs.execution import Executions
from warploom.runs.result import Result
from warploom.runs.run import run
from warploom.runs.spec import RunSpec, spec_from_dict

PolicyFiles = tuple[tuple[str, str], ...]  # path and digest
Taken = TypeVar("Taken")


class Workers(Protocol):
    """Takes runs; each becomes what is taken of its result, or the `WarploomError` that refuses it."""

    @property
    def slots(self) -> int:
        """How many runs it wants to have at a time."""
        ...

    def submit(self, spec: RunSpec, take: Callable[[Result], Taken]) -> Future[Taken]:
        """Begin a run. ``take``, a function of a module, is called where the result is; only its return value is sent back."""
        ...


class Here:
    """Runs in this process, one at a time, while they are submitted."""

    slots = 1

    def submit(self, spec: RunSpec, take: Callable[[Result], Taken]) -> Future[Taken]:
        future: Future[Taken] = Future()
        try:
            future.set_result(take(_run(spec)))
        except WarploomError as error:
            future.set_exception(error)
        return future


class Processes:
    """Runs in the processes of a pool."""

    def __init__(self, pool: ProcessPoolExecutor, jobs: int) -> None:
        self.slots = jobs
        self._pool = pool
        self._files = policy_files()

    def submit(self, spec: RunSpec, take: Callable[[Result], Taken]) -> Future[Taken]:
        with _interrupts_held_back():
            return self._pool.submit(run_in_worker, spec.to_dict(), take, self._files)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Defer interrupts from the keyboard, and shield processes that are started in the meantime.

    A terminal sends it to them too; while they are still importing they would answer with a traceback. We end them ourselves.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def local_workers(jobs: int) -> Iterator[Workers]:
    """Open `jobs` worker processes on this machine; for one job, use this process alone."""
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
    known = (already_said(), outside_folders(), asked_threads(), jobs)
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


def _begin_worker(said: frozenset[str], paper_folders: Iterable[Path], threads: int, processes: int) -> None:
    ears, mouth = os.pipe()
    os.set_blocking(mouth, False)
    signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, lambda *_: None)  # heard from the pipe: the main thread may be in LLVM for long
    threading.Thread(target=_end_when_told, args=(ears,), daemon=True).start()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    say_no_more(said)
    use_threads(threads, processes)
    announce_compilation()
    for folder in paper_folders:
        load_paper(folder)


def _end_with_parent() -> None:
    """A parent that is killed cannot end its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        abandon_drafts()
        os._exit(1)


def _end_when_told(ears: int) -> None:
    """A parent that is interrupted ends its workers; what they were writing goes with them."""
    while numbers := os.read(ears, 16):
        if signal.SIGTERM in numbers:
            abandon_drafts()
            os._exit(128 + signal.SIGTERM)


def policy_files() -> PolicyFiles:
    """The users' policy files that this process has loaded, for its workers to load too."""
    return tuple((str(file.path), file.digest) for file in loaded_policy_files())


def run_in_worker(data: dict[str, Any], take: Callable[[Result], Taken], files: PolicyFiles) -> Taken:
    """Make a run, as `RunSpec.to_dict` wrote it, in another process than the one that asked for it."""
    load_policies(files)
    return take(_run(spec_from_dict(data)))


def _run(spec: RunSpec) -> Result:
    with _first_of_machine(spec.combination):
        result = run(spec, executions=_executions(spec.execution_key))
    _compiled.add(spec.combination)
    return result


@functools.lru_cache(maxsize=1)
def _executions(execution_key: tuple[Any, ...]) -> Executions:
    return Executions()


@functools.cache
def load_policies(files: PolicyFiles) -> None:
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
        lock = Lock(Cache("locks").make_folder() / hashlib.sha256(repr(combination).encode()).hexdigest()[:32])
        lock.acquire(wait=True)
        return lock
    except (OSError, WarploomError):
        return None
