"""Worker processes that try inputs, and the parent that watches them: one that hangs or dies is a finding, and is replaced."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from warploom_lab.fuzz.kinds import Finding, Kind, generator, load_kind, outcome

_SPAWN = multiprocessing.get_context("spawn")
MEMORY = 8 << 30  # bytes of address space for a worker: what asks for more must refuse by itself
CURRENT = "current-input"
SETTING_UP = 900  # seconds that a kind may take for its good files; the core may have to be compiled for them
IN_MEMORY = Path("/dev/shm")  # a disk waits each time that a file is written anew, which most inputs do
_LOOK = 0.5  # seconds between two looks at the workers


@dataclass(frozen=True)
class Batch:
    """Consecutive inputs of a kind."""

    kind: str
    place: str  # module:class
    first: int
    count: int


@dataclass
class Tally:
    """What has been tried so far and how it ended."""

    tried: Counter[str] = field(default_factory=Counter)
    ended: Counter[tuple[str, str]] = field(default_factory=Counter)  # (kind, "accepted" or "refused")
    seconds: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


def work(connection: Connection, current: Any, seed: int, folder: Path) -> None:
    """The life of a worker: take batches until there are none."""
    log = open(os.devnull, "w")  # noqa: SIM115 (as long as the process)
    os.dup2(log.fileno(), 2)  # Numba, NVRTC and what is tried write there
    faulthandler.disable()
    kinds: dict[str, Kind] = {}
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for batch in iter(connection.recv, None):
            if batch.kind not in kinds:
                own = folder / batch.kind
                own.mkdir()
                try:
                    kinds[batch.kind] = load_kind(batch.place, own)
                except Exception:
                    connection.send(("broken", traceback.format_exc()))
                    return
            kind, started = kinds[batch.kind], time.monotonic()
            ended: Counter[str] = Counter()
            for number in range(batch.first, batch.first + batch.count):
                current.value = number
                spoilt = kind.make(generator(seed, batch.kind, number))
                (folder / CURRENT).write_bytes(shown := kind.shown(spoilt))  # first: there may be no return
                result = outcome(kind, batch.kind, number, spoilt)
                if isinstance(result, Finding):
                    connection.send(("finding", result, shown))
                else:
                    ended[result] += 1
            connection.send(("done", ended, time.monotonic() - started))
    except (EOFError, KeyboardInterrupt):
        pass


class _Worker:
    """A process, the batch that it has, and when it last began an input."""

    def __init__(self, seed: int) -> None:
        self.connection, theirs = _SPAWN.Pipe()
        self.folder = Path(tempfile.mkdtemp(prefix="warploom-fuzz-", dir=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None))
        self.current = _SPAWN.Value("q", -1, lock=False)
        self.process = _SPAWN.Process(target=work, args=(theirs, self.current, seed, self.folder))
        self.process.start()
        theirs.close()
        self.batch: Batch | None = None
        self.seen = (-1, time.monotonic())

    def give(self, batch: Batch) -> None:
        self.current.value = -1
        self.batch, self.seen = batch, (-1, time.monotonic())
        self.connection.send(batch)

    def is_stuck(self, patience: float) -> bool:
        """Whether the input that it is at was begun longer ago than that."""
        if self.current.value != self.seen[0]:
            self.seen = (self.current.value, time.monotonic())
        return time.monotonic() - self.seen[1] > (patience if self.seen[0] >= 0 else SETTING_UP)

    def end(self, *, by_force: bool = False) -> None:
        if by_force:
            self.process.kill()
        else:
            self.connection.send(None)
        self.process.join(10)
        self.connection.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def current_input(self) -> bytes:
        """What it is trying, or was when it died."""
        file = self.folder / CURRENT
        return file.read_bytes() if file.exists() else b""


def run(batches: Iterator[Batch], *, seed: int, jobs: int, keep: Path, patience: float, until: float) -> Tally:
    """Try all batches, or as many as there is time for; an input that takes longer than ``patience`` seconds hangs."""
    keep.mkdir(parents=True, exist_ok=True)
    tally = Tally()
    pending = list(batches)[::-1]
    workers = [_Worker(seed) for _ in range(min(jobs, len(pending)))]

    def replace(place: int, what: str) -> None:
        """A worker is lost to an input: note it, and go on behind that input with another worker."""
        worker = workers[place]
        batch, number = worker.batch, max(worker.current.value, worker.batch.first if worker.batch else 0)
        offending = worker.current_input()
        worker.end(by_force=True)
        workers[place] = _Worker(seed)
        if batch is None:
            return
        signature = what if what == "hang" else f"{what} with exit code {worker.process.exitcode}"
        tally.findings.append(Finding(batch.kind, number, what, signature, ""))
        (keep / f"{batch.kind}-{number}").write_bytes(offending)
        tally.tried[batch.kind] += number - batch.first + 1
        rest = batch.first + batch.count - number - 1
        if rest > 0:
            pending.append(Batch(batch.kind, batch.place, number + 1, rest))

    try:
        while True:
            for worker in workers:
                if worker.batch is None and pending and time.monotonic() < until:
                    worker.give(pending.pop())
            busy = [worker for worker in workers if worker.batch is not None]
            if not busy:
                return tally
            ready = wait([worker.connection for worker in busy], timeout=_LOOK)
            for place, worker in enumerate(list(workers)):
                if worker.batch is None:
                    continue
                if worker.connection in ready:
                    try:
                        _take(worker, worker.connection.recv(), tally, keep)
                    except (EOFError, ConnectionError):
                        replace(place, "crash")
                elif worker.is_stuck(patience):
                    replace(place, "hang")
    finally:
        for worker in workers:
            worker.end(by_force=sys.exc_info()[0] is not None)


def _take(worker: _Worker, message: Any, tally: Tally, keep: Path) -> None:
    assert worker.batch is not None
    if message[0] == "broken":
        raise RuntimeError(f"inputs of kind {worker.batch.kind} cannot be made:\n{message[1]}")
    if message[0] == "finding":
        finding = message[1]
        tally.findings.append(finding)
        (keep / f"{finding.kind}-{finding.number}").write_bytes(message[2])
        return
    batch, (_, ended, seconds) = worker.batch, message
    tally.tried[batch.kind] += batch.count
    tally.seconds[batch.kind] += seconds
    for how, count in ended.items():
        tally.ended[batch.kind, how] += count
    worker.batch = None
