"""How long runs took and how large their results are, kept in the cache so that the next plan can be estimated."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from warploom.base.cache import Cache
from warploom.runs.spec import RunSpec

_CACHE = Cache("timings")
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

    def note(self, spec: RunSpec, seconds: float, size_bytes: int) -> None:
        """Note a run."""
        self._noted.setdefault(_name(spec), []).append([seconds, size_bytes])
        if self._clock() - self._written >= WRITE_SECONDS:
            self.write()

    def write(self) -> None:
        """Add what was noted to what is kept."""
        noted, self._noted, self._written = self._noted, {}, self._clock()
        for name, runs in noted.items():
            _CACHE.write_json(f"{name}.json", [*(_CACHE.read_json(f"{name}.json") or []), *runs][-KEPT:])


def expect(specs: Sequence[RunSpec]) -> Expectation:
    """What runs will take, from how long runs of their kind took before."""
    kinds = Counter(_name(spec) for spec in specs)
    known = {name: found for name in kinds if (found := _recall(name))}
    combinations = len({spec.combination for spec in specs})
    if not known:
        return Expectation(len(specs), len(specs), None, None, combinations)
    usual = tuple(median(each[part] for each in known.values()) for part in (0, 1))
    seconds, size = (sum(number * known.get(name, usual)[part] for name, number in kinds.items()) for part in (0, 1))
    untimed = sum(number for name, number in kinds.items() if name not in known)
    return Expectation(len(specs), untimed, seconds, size, combinations)


def _name(spec: RunSpec) -> str:
    """What runs of a kind have in common. Designs are not told apart: they take about the same time."""
    spec = spec.settled
    kind = (spec.program.name, spec.size, spec.code, spec.machine.name, spec.machine.chip.sms, spec.check)
    return hashlib.sha256(json.dumps(kind).encode()).hexdigest()[:32]


def _recall(name: str) -> tuple[Any, ...] | None:
    noted = _CACHE.read_json(f"{name}.json")
    return tuple(median(entry[part] for entry in noted) for part in (0, 1)) if noted else None
