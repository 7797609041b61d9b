"""LTRF (ASPLOS 2018): a large slow register file with and without prefetching, against a small fast one.

The power that the paper saves comes from cells of another kind, for which there is no table here; it is not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from warploom.runs.spec import RunSpec
from warploom.studies.reproduce.experiment import Chart, Experiment, Figure, Outcome, Results, Row, run_named

SMALL, LARGE, FAST = "gtx480", "ltrf-large", "ltrf-fast"
SMS = {"tiny": 1, "small": 2}
TWO_LEVEL = "scheduler=two-level(inner=round-robin, each=scheduler)"  # as GPGPU-Sim has it: a queue for each scheduler
PREFETCHED = f"{TWO_LEVEL} + hierarchy=ltrf"
DESIGNS = {  # what a column shows: design and machine, all with as many active warps
    "small fast file": (TWO_LEVEL, SMALL),
    "large slow file": (TWO_LEVEL, LARGE),
    "large slow file, prefetched": (PREFETCHED, LARGE),
    "large fast file": (TWO_LEVEL, FAST),
}
PREFETCHING, BOUND = "large slow file, prefetched", "large fast file"
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


def _run(workload: str, design: str, machine: str, size: str) -> RunSpec:
    return run_named(workload, design, machine, size, sms=SMS.get(size, 0))


def _runs(size: str) -> Sequence[RunSpec]:
    return [_run(name, *point, size) for name in WORKLOADS for point in DESIGNS.values()]


def _speeds(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for name in WORKLOADS:
        plain = results[_run(name, *DESIGNS["small fast file"], size)]
        for label, point in DESIGNS.items():
            result = results[_run(name, *point, size)]
            speed = 100 * (plain.cycles / result.cycles - 1)
            rows.append({"workload": name, "register file": label, "speed gained %": speed, "warps %": 100 * result.occupancy})
    gained = {
        label: fmean(row["speed gained %"] for row in rows if row["register file"] == label) for label in (PREFETCHING, BOUND)
    }
    chart = Chart("bars", "workload", "speed gained %", "register file", published={"paper: mean": 31})
    bound = Experiment("slower cells: what is left is what more warps gain", f"{BOUND}: {FAST}", gained[BOUND])
    return Outcome(rows, {"speed-large": gained[PREFETCHING]}, chart, {"speed-large": bound})


FIGURES = (Figure("table 1", "Speed of a large slow register file", _runs, _speeds),)
