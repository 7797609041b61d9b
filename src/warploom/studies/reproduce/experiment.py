"""What an experiment is: the runs it needs, and what it makes of their results.

A paper's module lists its figures and tables::

    FIGURES = (
        Figure("figure 9", "Energy of the register file", runs=energy_runs, evaluate=energy_bars),
        ...
    )

``runs(size)`` names every simulation the figure needs; the engine executes those that are not already stored, on all cores.
``evaluate(results)`` then only computes: rows of a tidy table, our value for each published fact, and how to draw the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from warploom.base.checks import check_words
from warploom.chip.machines import Machine, load_machine
from warploom.designs import parse_design
from warploom.programs.named import origin_named
from warploom.runs.result import Result
from warploom.runs.spec import RunSpec

Row = dict[str, Any]


def run_named(
    workload: str,
    design: str = "baseline",  # any text that `warploom.designs` understands
    machine: str = "gtx480",
    size: str = "small",
    technology: str = "",  # a technology table; empty: the machine's own
    check: Iterable[str] = (),  # what is watched, see `warploom.base.checks`
    code: str = "",  # what is executed; empty: what the paper names, or the machine's usual code
    sms: int = 0,  # fewer SMs, with their share of the memory system, so that a small grid fills them; 0: all of the machine's
) -> RunSpec:
    """A run by the names of its parts."""
    chip, watched = _machine(machine, sms), check_words(check)
    return RunSpec(origin_named(workload), parse_design(design), chip, size, code=code, technology=technology, check=watched)


@cache
def _machine(name: str, sms: int) -> Machine:
    machine = load_machine(name)
    return machine.scaled(sms) if sms else machine


Results = Mapping[RunSpec, Result]


@dataclass(frozen=True, slots=True)
class Chart:
    """How to draw rows: which columns, and what the axes say. Axes and order follow the original figure."""

    kind: Literal["bars", "stacked", "lines", "points"]
    x: str
    y: str
    series: str = ""  # the column that colours
    facet: str = ""  # the column that makes one panel each
    x_title: str = ""
    y_title: str = ""
    order: tuple[str, ...] = ()  # of the x values; empty: as in the rows
    published: Mapping[str, float] = field(default_factory=dict)  # label: level, drawn as a line across


@dataclass(frozen=True, slots=True)
class Experiment:
    """What shows the cause of a difference: the same number from runs without that cause."""

    without: str  # the cause, in words
    run: str  # how it is taken away: a design, a machine, or which of the figure's runs are left out
    value: float  # the number that came out, in the fact's unit

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return {"without": self.without, "run": self.run, "value": self.value}


@dataclass(frozen=True, slots=True)
class Help:
    """What a number of ours leans on: the same number without it."""

    by: str  # what helps: "shaped kernels", "lone warps"
    value: float  # the number that comes out without it, in the fact's unit
    chosen_after: bool = False  # whether it was chosen after the number was known

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return {"by": self.by, "value": self.value, "chosen_after": self.chosen_after}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a figure's evaluation gives."""

    rows: Sequence[Row]  # tidy: one row per bar, point or cell
    facts: Mapping[str, float]  # fact id: our value, in the fact's unit
    chart: Chart | None = None  # a table has none
    experiments: Mapping[str, Experiment] = field(
        default_factory=dict
    )  # fact id: why ours differs, shown by taking the cause away
    reasons: Mapping[str, str] = field(
        default_factory=dict
    )  # fact id: where the paper contradicts itself, or what the number rests on, with the arithmetic
    helps: Mapping[str, Sequence[Help]] = field(default_factory=dict)  # fact id: what it leans on, with the number without it


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure or table of a paper as an experiment."""

    place: str  # "figure 9", "table 5": as in the facts
    title: str
    runs: Callable[[str], Sequence[RunSpec]]  # by size
    evaluate: Callable[[Results, str], Outcome]  # results and size
