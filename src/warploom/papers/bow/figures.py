"""Breathing operand windows (MICRO 2020): what the windows forward, and what that is worth.

The paper's own figures are not at hand; its numbers are from its abstract and from memory, and put into two tables of ours.
"""

from __future__ import annotations

from statistics import fmean

from warploom.studies.reproduce.experiment import Chart, Experiment, Figure, Outcome, Results, Row
from warploom.studies.reproduce.grid import Grid, column, less, more

FREE = "bow-free"  # the machine as built, but with banks that make nobody wait
WINDOWS = {2: 8, 3: 12, 4: 16, 7: 28}  # instructions: registers of a window
WORKLOADS = "backprop bfs gaussian hotspot lib lps lud mri-q mum nw pathfinder sad scalarprod sgemm srad"
GRID = Grid("gtx480", WORKLOADS.split(), {"tiny": 1, "small": 2})
DESIGNS = {window: f"hierarchy=bow(window={window}, entries={entries})" for window, entries in WINDOWS.items()}


def _bypassed(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for name in GRID.workloads:
        for window, design in DESIGNS.items():
            counters = results[GRID.run(name, design, size)].counters
            reads, writes = 100 * counters["reads_bypassed"], 100 * counters["writes_bypassed"]
            rows.append({"workload": name, "window": str(window), "reads %": reads, "writes %": writes})
    facts = {f"{kind}-bypassed": fmean(column(rows, f"{kind} %", window="3")) for kind in ("reads", "writes")}
    chart = Chart("bars", "workload", "reads %", "window", y_title="% of register reads bypassed", published={"paper, 3": 59})
    return Outcome(rows, facts, chart)


def _gains(results: Results, size: str) -> Outcome:
    plain, free = GRID.of(results, "baseline", size), GRID.of(results, "baseline", size, FREE)
    rows: list[Row] = []
    for name, window in GRID.of(results, DESIGNS[3], size).items():
        spent = window.energy_pj["dynamic"] + window.energy_pj["overhead"]
        rows.append(
            {
                "workload": name,
                "speed gained %": more(plain[name].cycles, window.cycles),
                "dynamic energy saved %": less(spent, plain[name].energy_pj["dynamic"]),
            }
        )
    facts = {
        "dynamic-saved": fmean(column(rows, "dynamic energy saved %")),
        "speed-gained": fmean(column(rows, "speed gained %")),
    }
    chart = Chart("bars", "workload", "dynamic energy saved %", published={"paper: mean": 55})
    without_waits = fmean(more(plain[name].cycles, free[name].cycles) for name in GRID.workloads)
    bound = Experiment("all waiting for banks, the most that forwarding could save", f"baseline on {FREE}", without_waits)
    return Outcome(rows, facts, chart, {"speed-gained": bound})


FIGURES = (
    Figure("table 1", "Reads and writes that the windows bypass", GRID.runs(*DESIGNS.values()), _bypassed),
    Figure(
        "table 2",
        "What that gains in energy and speed",
        lambda size: [*GRID.runs("baseline", DESIGNS[3])(size), *GRID.runs("baseline", machine=FREE)(size)],
        _gains,
    ),
)
