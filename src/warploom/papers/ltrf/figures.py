"""LTRF (ASPLOS 2018): a large slow register file with and without prefetching, against a small fast one.

The power that the paper saves comes from cells of another kind, for which there is no table here; it is not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

from warploom.papers.experiment import Chart, Experiment, Figure, Outcome, Results, Row, Run

SMALL, LARGE, FAST = "gtx480", "ltrf-large", "ltrf-fast"
MACHINE_CODE = "sm_75"  # which has more registers than our backend's
SMS = {"tiny": 1, "small": 2}
PREFETCHED = "scheduler=two-level + hierarchy=ltrf"
DESIGNS = {  # what a column shows: design and machine, all with as many active warps
    "small fast file": ("scheduler=two-level", SMALL),
    "large slow file": ("scheduler=two-level", LARGE),
    "large slow file, prefetched": (PREFETCHED, LARGE),
    "large fast file": ("scheduler=two-level", FAST),  # what more warps can give at most
}
PREFETCHING = "large slow file, prefetched"
WORKLOADS = (
    "backprop",
    "blackscholes",
    "cutcp",
    "dct8x8",
    "fft",
    "heartwall",
    "hotspot",
    "lavamd",
    "lbm",
    "mergesort",
    "mri-q",
    "nbody",
    "sgemm",
    "srad",
    "tpacf",
)


def _run(workload: str, design: str, machine: str, size: str) -> Run:
    return Run(workload, design, machine, size, sms=SMS.get(size, 0))


def _runs(size: str) -> Sequence[Run]:
    hungry = [_hungry(name, *DESIGNS[label], size) for name in WORKLOADS for label in ("small fast file", PREFETCHING)]
    return [*(_run(name, *point, size) for name in WORKLOADS for point in DESIGNS.values()), *hungry]


def _hungry(workload: str, design: str, machine: str, size: str) -> Run:
    """The same with code that wants more registers."""
    return replace(_run(workload, design, machine, size), code=MACHINE_CODE)


def _gained(results: Results, size: str, label: str, run: Callable[[str, str, str, str], Run] = _run) -> float:
    """Percent of speed over the small fast file, mean."""
    cycles = [
        [results[run(name, *point, size)]["cycles"] for point in (DESIGNS["small fast file"], DESIGNS[label])] for name in WORKLOADS
    ]
    return fmean(100 * (small / large - 1) for small, large in cycles)


def _speeds(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for name in WORKLOADS:
        plain = results[_run(name, *DESIGNS["small fast file"], size)]
        for label, point in DESIGNS.items():
            result = results[_run(name, *point, size)]
            speed = 100 * (plain["cycles"] / result["cycles"] - 1)
            rows.append({"workload": name, "register file": label, "speed gained %": speed, "warps %": 100 * result["occupancy"]})
    chart = Chart("bars", "workload", "speed gained %", "register file", published={"paper: mean": 31})
    more = _gained(results, size, PREFETCHING, _hungry)
    hungry = Experiment("code that needs few registers", f"the same with --code {MACHINE_CODE}", more)
    return Outcome(rows, {"speed-large": _gained(results, size, PREFETCHING)}, chart, {"speed-large": hungry})


FIGURES = (Figure("table 1", "Speed of a large slow register file", _runs, _speeds),)
