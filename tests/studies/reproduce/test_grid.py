"""The grid of a paper's runs, and what most figures make of results."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from warploom.studies.reproduce.grid import Grid, bars, column, less, mean, more

GRID = Grid("gtx480", ("bfs", "hotspot"), {"tiny": 2})
CYCLES = {("bfs", "baseline"): 100, ("bfs", "rfv"): 150, ("hotspot", "baseline"): 200, ("hotspot", "rfv"): 190}


def _results() -> dict[Any, Any]:
    """A result for each run, with the cycles above."""
    return {
        GRID.run(name, design, "tiny"): SimpleNamespace(cycles=cycles, counters={"share": cycles / 1000})
        for (name, design), cycles in CYCLES.items()
    }


def test_runs_are_of_all_workloads_under_each_design() -> None:
    runs = GRID.runs("baseline", "rfv")("tiny")
    assert [(run.program.name, run.design.name) for run in runs] == list(CYCLES)
    assert {run.size for run in runs} == {"tiny"}


def test_only_the_sizes_that_are_named_run_on_fewer_sms() -> None:
    tiny, small = (GRID.run("bfs", "baseline", size).machine for size in ("tiny", "small"))
    assert (tiny.chip.sms, small.chip.sms) == (2, 15)


def test_a_run_may_be_on_another_machine_and_of_other_workloads() -> None:
    (run,) = GRID.runs("baseline", workloads=("lib",), machine="rfv")("small")
    assert (run.program.name, run.machine.name) == ("lib", "rfv")


def test_results_counters_and_added_time_come_by_workload() -> None:
    results = _results()
    assert {name: one.cycles for name, one in GRID.of(results, "rfv", "tiny").items()} == {"bfs": 150, "hotspot": 190}
    assert GRID.counter(results, "rfv", "tiny", "share", 100) == pytest.approx({"bfs": 15.0, "hotspot": 19.0})
    assert GRID.time_added(results, "rfv", "tiny", "baseline") == {"bfs": 50.0, "hotspot": pytest.approx(-5)}


def test_more_and_less_are_percent_of_the_other() -> None:
    assert (more(150, 100), less(25, 100)) == (50, 75)


def test_bars_end_with_their_mean_and_columns_find_them() -> None:
    rows = bars({"bfs": 1.0, "hotspot": 2.0}, "value", design="rfv") + bars({"bfs": 5.0}, "value", design="rfc")
    assert column(rows, "value", design="rfv") == [1.0, 2.0, 1.5]
    assert column(rows, "value", workload="mean") == [1.5, 5.0]
    assert mean(iter([1, 2])) == 1.5
