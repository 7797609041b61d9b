"""Observers see everything and change nothing; what they count adds up to the run's own counters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from warploom.errors import WarploomError
from warploom.observers import make_observers, observer_names
from warploom.observers.hot_spots import COLUMNS
from warploom.observers.pipeline_log import PipelineLog
from warploom.register_file.layout import STALLS
from warploom.simulation.execution import Executions
from warploom.simulation.result import Result
from warploom.simulation.simulate import simulate
from warploom.workloads.program import workload_program

PROGRAM = "reduction"  # several launches, barriers, divergence
DESIGNS = ("rfc",)  # values move between two levels, too


@pytest.fixture(scope="module", params=DESIGNS)
def runs(request: pytest.FixtureRequest) -> tuple[Result, Result]:
    """The same program without anybody watching, and with everybody."""
    executions = Executions()
    log = PipelineLog(last=400, warp=1)
    everybody = [log, *(name for name in observer_names() if name != log.NAME)]
    plain, watched = (
        simulate(workload_program(PROGRAM), request.param, "gtx480", size="tiny", executions=executions, observers=observers)
        for observers in ((), everybody)
    )
    return plain, watched


def rows_of(watched: Result) -> list[dict[str, Any]]:
    return [row for launch in watched.observed["hot-spots"] for row in launch["report"]]


def test_watching_changes_nothing(runs: tuple[Result, Result]) -> None:
    plain, watched = runs
    assert (plain.cycles, plain.counters, plain.energy_pj) == (watched.cycles, watched.counters, watched.energy_pj)
    assert plain.observed == {} and "observed" not in plain.to_dict()
    assert set(watched.observed) == set(observer_names())


def test_the_rows_of_the_code_add_up(runs: tuple[Result, Result]) -> None:
    _, watched = runs
    counters, rows = watched.counters, rows_of(watched)
    columns = {column: counter for column, counter in COLUMNS.items() if counter}
    assert {name: sum(row[name] for row in rows) for name in columns} == {k: counters[v] for k, v in columns.items()}
    assert sum(row["threads"] for row in rows) == sum(n * lanes for n, lanes in enumerate(counters["active_lanes"]))
    stalls = {reason: sum(row["stalls"].get(reason, 0) for row in rows) for reason in STALLS}
    assert stalls == counters["stall_cycles"]
    assert counters["bank_conflicts"] > 0 and any(row["stalls"].get("scoreboard") for row in rows if row["pc"] >= 0)


def test_every_value_is_counted_once(runs: tuple[Result, Result]) -> None:
    _, watched = runs
    reports = [launch["report"] for launch in watched.observed["value-lifetimes"]]
    assert sum(report["values"] for report in reports) == watched.counters["rf_writes"]
    for report in reports:
        assert sum(report["lifetimes"]) == sum(report["reads"]) == report["values"]
        assert report["values_read"] == report["values"] - report["reads"][0]
        assert report["mean_lifetime"] > 1


def test_the_log_keeps_to_what_was_asked_for(runs: tuple[Result, Result]) -> None:
    _, watched = runs
    launches = watched.observed["pipeline-log"]
    assert len(launches) == len(watched.observed["hot-spots"])
    events = launches[0]["events"]
    assert launches[0]["report"]["dropped"] == 0
    assert events and all(cycle <= 400 and warp == 1 for _, cycle, _, warp, _ in events)
    for sm in {event[0] for event in events}:
        mine = [event for event in events if event[0] == sm]
        assert [event[1] for event in mine] == sorted(event[1] for event in mine)
        issued = [pc for _, _, what, _, pc in mine if what == "issued"]
        assert issued[0] == 0  # a warp begins at the beginning
        assert {pc for _, _, what, _, pc in mine if what == "retired"} <= set(issued)


class Misspelt(NamedTuple):
    NAME = "misspelt"
    STATE = (("count", "i8"),)

    def on_isued(observer, own, ctx, cycle, warp, pc, mask):
        own.count += 1

    def report(observer, states, run):
        return np.asarray(states["count"]).tolist()


def test_mistakes_are_named() -> None:
    with pytest.raises(WarploomError, match="there is no observer 'hot-spot'; did you mean 'hot-spots'"):
        make_observers(["hot-spot"])
    with pytest.raises(WarploomError, match="attached twice"):
        make_observers(["hot-spots", "hot-spots"])
    with pytest.raises(WarploomError, match="observer class Misspelt: 'on_isued' is no point at which an observer looks"):
        make_observers([Misspelt()])
