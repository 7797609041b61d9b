"""The one figure of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from warploom.kit import Chart, Figure, Outcome, Results, RunSpec, run_named

from . import PAPER


def _runs(size: str) -> Sequence[RunSpec]:
    return [run_named(name, "census", "census", size) for name in PAPER.workloads]


def _live(results: Results, size: str) -> Outcome:
    rows, overhead = [], []
    for run, result in results.items():
        counters, energy = result.counters, result.energy_pj
        rows.append({"workload": run.program.name, "live": counters["census_live"] / counters["census_blocks"]})
        overhead.append(100 * energy["overhead"] / energy["total"])
    facts = {"live": fmean(row["live"] for row in rows), "overhead": fmean(overhead)}
    return Outcome(rows, facts, Chart("bars", "workload", "live", y_title="live registers"))


FIGURES = (Figure("figure 1", "Live registers at the start of a block", _runs, _live),)
