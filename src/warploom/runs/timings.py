"""How long runs took and how large their results are, kept in the cache so that the next plan can be estimated."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from typing import Any

from warploom.simulation.task import Task
from warploom.storage.cache import cache_directory
from warploom.storage.kept import read_kept_json, write_kept_json

KEPT = 9  # of each kind of run
WRITE_SECONDS = 5.0  # how often what was noted is written down
COMPILATION_SECONDS = 15.0  # of a new combination of policies, on a quiet machine


@dataclass(frozen=True)
class Expectation:
    """What a list of runs will take."""

    runs: int
    untimed: int  # runs of a kind that nobody has timed; they count as the median of the others
    seconds: float | None  # of one process; None where nothing was ever timed
    bytes: float | None
    combinations: int  # of policies, each compiled once on each machine unless it is there already


class Timings:
    """Notes runs, and writes down now and then what it has noted. Where nothing can be kept, nothing is."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._written = clock()
        self._noted: dict[str, list[list[float]]] = {}  # by kind of run

    def note(self, task: Task, seconds: float, size_bytes: int) -> None:
        """Note a run."""
        self._noted.setdefault(_name(task), []).append([seconds, size_bytes])
        if self._clock() - self._written >= WRITE_SECONDS:
            self.write()

    def write(self) -> None:
        """Add what was noted to what is kept."""
        noted, self._noted, self._written = self._noted, {}, self._clock()
        for name, runs in noted.items():
            with suppress(OSError):
                path = cache_directory("timings") / f"{name}.json"
                write_kept_json(path, [*(read_kept_json(path) or []), *runs][-KEPT:])


def expect(tasks: Sequence[Task]) -> Expectation:
    """What tasks will take, from how long runs of their kind took before."""
    kinds = Counter(_name(task) for task in tasks)
    known = {name: found for name in kinds if (found := _recall(name))}
    combinations = len({task.compiled_for for task in tasks})
    if not known:
        return Expectation(len(tasks), len(tasks), None, None, combinations)
    usual = tuple(median(each[part] for each in known.values()) for part in (0, 1))
    seconds, size = (sum(number * known.get(name, usual)[part] for name, number in kinds.items()) for part in (0, 1))
    untimed = sum(number for name, number in kinds.items() if name not in known)
    return Expectation(len(tasks), untimed, seconds, size, combinations)


def _name(task: Task) -> str:
    """What runs of a kind have in common. Designs are not told apart: they take about the same time."""
    kind = (task.workload, task.size, task.code, task.machine.name, task.machine.chip.sms, task.check)
    return hashlib.sha256(json.dumps(kind).encode()).hexdigest()[:32]


def _recall(name: str) -> tuple[Any, ...] | None:
    try:
        noted = read_kept_json(cache_directory("timings") / f"{name}.json")
    except OSError:
        return None
    return tuple(median(entry[part] for entry in noted) for part in (0, 1)) if noted else None
