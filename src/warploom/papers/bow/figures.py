"""Breathing operand windows (MICRO 2020): what the windows forward, and what that is worth.

The paper's own figures are not at hand; its numbers are from its abstract and from memory, and put into two tables of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from warploom.runs.spec import RunSpec
from warploom.studies.reproduce.experiment import Chart, Experiment, Figure, Outcome, Results, Row, run_named

MACHINE, FREE = "gtx480", "bow-free"  # as built; with banks that make nobody wait
SMS = {"tiny": 1, "small": 2}
WINDOWS = {2: 8, 3: 12, 4: 16, 7: 28}  # instructions: registers of a window
WORKLOADS = (
    "backprop",
    "bfs",
    "gaussian",
    "hotspot",
    "lib",
    "lps",
    "lud",
    "mri-q",
    "mum",
    "nw",
    "pathfinder",
    "sad",
    "scalarprod",
    "sgemm",
    "srad",
)


def _design(window: int) -> str:
    return f"hierarchy=bow(window={window}, entries={WINDOWS[window]})"


def _run(workload: str, design: str, size: str, machine: str = MACHINE) -> RunSpec:
    return run_named(workload, design, machine, size, sms=SMS.get(size, 0))


def _window_runs(size: str) -> Sequence[RunSpec]:
    return [_run(name, _design(window), size) for name in WORKLOADS for window in WINDOWS]


def _bypassed(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for name in WORKLOADS:
        for window in WINDOWS:
            counters = results[_run(name, _design(window), size)].counters
            reads, writes = 100 * counters["reads_bypassed"], 100 * counters["writes_bypassed"]
            rows.append({"workload": name, "window": str(window), "reads %": reads, "writes %": writes})
    three = [row for row in rows if row["window"] == "3"]
    facts = {"reads-bypassed": fmean(r["reads %"] for r in three), "writes-bypassed": fmean(r["writes %"] for r in three)}
    chart = Chart("bars", "workload", "reads %", "window", y_title="% of register reads bypassed", published={"paper, 3": 59})
    return Outcome(rows, facts, chart)


def _gain_runs(size: str) -> Sequence[RunSpec]:
    bound = [_run(name, "baseline", size, FREE) for name in WORKLOADS]
    return [*(_run(name, design, size) for name in WORKLOADS for design in ("baseline", _design(3))), *bound]


def _gains(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for name in WORKLOADS:
        plain, window = results[_run(name, "baseline", size)], results[_run(name, _design(3), size)]
        spent = (window.energy_pj["dynamic"] + window.energy_pj["overhead"]) / plain.energy_pj["dynamic"]
        rows.append(
            {
                "workload": name,
                "speed gained %": 100 * (plain.cycles / window.cycles - 1),
                "dynamic energy saved %": 100 * (1 - spent),
            }
        )
    facts = {
        "dynamic-saved": fmean(row["dynamic energy saved %"] for row in rows),
        "speed-gained": fmean(row["speed gained %"] for row in rows),
    }
    chart = Chart("bars", "workload", "dynamic energy saved %", published={"paper: mean": 55})
    without_waits = fmean(
        100 * (results[_run(name, "baseline", size)].cycles / results[_run(name, "baseline", size, FREE)].cycles - 1)
        for name in WORKLOADS
    )
    bound = Experiment("all waiting for banks, the most that forwarding could save", f"baseline on {FREE}", without_waits)
    return Outcome(rows, facts, chart, {"speed-gained": bound})


FIGURES = (
    Figure("table 1", "Reads and writes that the windows bypass", _window_runs, _bypassed),
    Figure("table 2", "What that gains in energy and speed", _gain_runs, _gains),
)
