"""LTRF (ASPLOS 2018): a large slow register file with and without prefetching, against a small fast one.

The power that the paper saves comes from cells of another kind, for which there is no table here; it is not measured.
"""

from __future__ import annotations

from statistics import fmean

from warploom.studies.reproduce.experiment import Chart, Experiment, Figure, Outcome, Results, Row
from warploom.studies.reproduce.grid import Grid, column, more

SMALL, LARGE, FAST = "gtx480", "ltrf-large", "ltrf-fast"
TWO_LEVEL = "scheduler=two-level(inner=round-robin, each=scheduler)"  # as GPGPU-Sim has it: a queue for each scheduler
PREFETCHED = f"{TWO_LEVEL} + hierarchy=ltrf"
DESIGNS = {  # what a column shows: design and machine, all with as many active warps
    "small fast file": (TWO_LEVEL, SMALL),
    "large slow file": (TWO_LEVEL, LARGE),
    "large slow file, prefetched": (PREFETCHED, LARGE),
    "large fast file": (TWO_LEVEL, FAST),
}
PREFETCHING, BOUND = "large slow file, prefetched", "large fast file"
WORKLOADS = "backprop blackscholes cutcp dct8x8 fft heartwall hotspot lavamd lbm mergesort mri-q nbody sgemm srad tpacf"
GRID = Grid(SMALL, WORKLOADS.split(), {"tiny": 1, "small": 2})


def _speeds(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for name in GRID.workloads:
        plain, *_ = shown = [results[GRID.run(name, design, size, machine)] for design, machine in DESIGNS.values()]
        for label, result in zip(DESIGNS, shown, strict=True):
            speed, warps = more(plain.cycles, result.cycles), 100 * result.occupancy
            rows.append({"workload": name, "register file": label, "speed gained %": speed, "warps %": warps})
    gained, most = (fmean(column(rows, "speed gained %", **{"register file": label})) for label in (PREFETCHING, BOUND))
    chart = Chart("bars", "workload", "speed gained %", "register file", published={"paper: mean": 31})
    bound = Experiment("slower cells: what is left is what more warps gain", f"{BOUND}: {FAST}", most)
    return Outcome(rows, {"speed-large": gained}, chart, {"speed-large": bound})


FIGURES = (
    Figure(
        "table 1",
        "Speed of a large slow register file",
        lambda size: [GRID.run(name, design, size, machine) for name in GRID.workloads for design, machine in DESIGNS.values()],
        _speeds,
    ),
)
