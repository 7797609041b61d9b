"""The runs of a paper's figures as a grid, workloads by designs on one machine, and what most figures make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from warploom.runs.result import Result
from warploom.runs.spec import RunSpec
from warploom.studies.reproduce.experiment import Results, Row, run_named

RunsOfSize = Callable[[str], Sequence[RunSpec]]
MEAN = "mean"


@dataclass(frozen=True)
class Grid:
    """Which runs a paper's figures are made of. One whose runs are special says so by a `run` of its own."""

    machine: str
    workloads: Sequence[str]
    sms: Mapping[str, int] = field(default_factory=dict)  # by size, where the grids of that size do not fill all of the machine's

    def run(self, workload: str, design: str, size: str, machine: str = "") -> RunSpec:
        """One run, on another machine than the paper's if one is named."""
        return run_named(workload, design, machine or self.machine, size, sms=self.sms.get(size, 0))

    def runs(self, *designs: str, workloads: Sequence[str] = (), machine: str = "") -> RunsOfSize:
        """The runs of some designs, of all workloads unless some are named, by size."""
        return lambda size: [self.run(name, one, size, machine) for name in workloads or self.workloads for one in designs]

    def of(self, results: Results, design: str, size: str, machine: str = "", workloads: Sequence[str] = ()) -> dict[str, Result]:
        """The results of a design by workload."""
        return {name: results[self.run(name, design, size, machine)] for name in workloads or self.workloads}

    def counter(self, results: Results, design: str, size: str, key: str, scale: float = 1) -> dict[str, float]:
        """A counter by workload; with a scale of 100 a share becomes percent."""
        return {name: scale * result.counters[key] for name, result in self.of(results, design, size).items()}

    def time_added(self, results: Results, design: str, size: str, against: str) -> dict[str, float]:
        """Percent more cycles than under another design, by workload."""
        reference = self.of(results, against, size)
        return {name: more(one.cycles, reference[name].cycles) for name, one in self.of(results, design, size).items()}


def no_runs(size: str) -> Sequence[RunSpec]:
    """What a table of parameters needs."""
    return ()


def more(ours: float, theirs: float) -> float:
    """By how much a number is larger than another, in percent."""
    return 100 * (ours / theirs - 1)


def less(ours: float, theirs: float) -> float:
    """By how much a number is smaller than another, in percent."""
    return 100 * (1 - ours / theirs)


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean of what may be read only once."""
    return fmean(list(values))


def column(rows: Iterable[Row], name: str, **wanted: Any) -> list[Any]:
    """A column of the rows that have these values elsewhere."""
    return [row[name] for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def bars(values: Mapping[str, float], name: str, **labels: Any) -> list[Row]:
    """A row for each workload with its value under a name, and one for their mean."""
    rows: list[Row] = [{"workload": workload, **labels, name: value} for workload, value in values.items()]
    return [*rows, {"workload": MEAN, **labels, name: mean(values.values())}]
