"""Observers see everything and change nothing; what they count adds up to the run's own counters."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from warploom.base.errors import WarploomError
from warploom.base.records import Record, i8, own_dtype
from warploom.chip.machines import load_machine
from warploom.chip.observers import make_observers, observer_names
from warploom.chip.observers.hot_spots import COUNTERS_OF, LONG_ROWS, ROWS, HotSpots
from warploom.chip.observers.pipeline_log import PipelineLog
from warploom.chip.observers.window import is_chosen, warp_mask
from warploom.chip.sm.layout import STALLS
from warploom.compiler.code.instruction import Code
from warploom.programs.own_kernel import OwnKernel
from warploom.runs.result import Result
from warploom.runs.simulate import simulate


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
    assert {name: sum(row[name] for row in rows) for name in COUNTERS_OF} == {k: counters[v] for k, v in COUNTERS_OF.items()}
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


def test_watching_a_part_keeps_to_it() -> None:
    states = np.zeros(3, own_dtype(PipelineLog.STATE)).view(np.recarray)
    PipelineLog(first=10, last=20, sm=1, warps=warp_mask([0, 63])).begin(states, later=5)
    assert states["watched"].tolist() == [False, True, False]
    assert (states["first"] == 15).all() and (states["last"] == 25).all()
    assert [is_chosen(states[1], warp) for warp in (0, 1, 62, 63)] == [True, False, False, True]


class _Code(Code):
    """Code of which only the length is known."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length


def test_code_of_any_length_has_its_rows() -> None:
    """The record grows only where the code does not fit, and its other parts stay as they are."""
    usual = HotSpots()
    assert usual.for_code(_Code(ROWS - 1)) is usual
    longer = usual.for_code(_Code(ROWS))
    assert longer.for_code(_Code(LONG_ROWS - 1)) is longer and type(longer).NAME == "hot-spots"
    small, large = own_dtype(usual.STATE), own_dtype(longer.STATE)
    assert large.names == small.names and (large["issues"].shape, small["issues"].shape) == ((LONG_ROWS,), (ROWS,))
    assert large["stalls"].shape == (LONG_ROWS, len(STALLS)) and large["since"] == small["since"]


@pytest.mark.slow
def test_a_kernel_of_many_instructions_is_watched(tmp_path: Path) -> None:
    additions = "".join(f"add.s32 a, a, {n};\nmul.lo.s32 b, b, a;\n" for n in range(1, 3001))
    body = f"ld.param.u64 p, [out]; mov.u32 a, %tid.x; mov.u32 b, a;\n{additions}st.global.u32 [p], b; ret;"
    head = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry long(.param .u64 out)"
    (tmp_path / "long.ptx").write_text(f"{head}\n{{\n.reg .b64 p; .reg .b32 a, b;\n{body}\n}}\n")
    program = OwnKernel(str(tmp_path / "long.ptx"), (1,), (32,), arguments=("out=u32[1]",)).open("ptx")
    watched = simulate(program, "baseline", load_machine("gtx480").scaled(1), observers=["hot-spots"])
    rows = rows_of(watched)
    assert len(rows) > 6000 and all(row["issues"] == 1 for row in rows[:-1])
    assert sum(row["issues"] for row in rows) == watched.warp_instructions


class Count(Record):
    count: i8


class Misspelt(NamedTuple):
    NAME = "misspelt"
    STATE = Count

    def on_isued(observer, own, ctx, cycle, warp, pc, mask) -> None:
        own.count += 1

    def report(observer, states, run):
        return np.asarray(states["count"]).tolist()


class NoRecord(NamedTuple):
    NAME = "no-record"
    STATE = (("count", "i8"),)

    def report(observer, states, run):
        return None


def test_mistakes_are_named() -> None:
    with pytest.raises(WarploomError, match="there is no observer 'hot-spot'; did you mean 'hot-spots'"):
        make_observers(["hot-spot"])
    with pytest.raises(WarploomError, match="attached twice"):
        make_observers(["hot-spots", "hot-spots"])
    with pytest.raises(WarploomError, match="observer class Misspelt: 'on_isued' is no point at which an observer looks"):
        make_observers([Misspelt()])
    with pytest.raises(WarploomError, match="observer class NoRecord: STATE: what is kept must be a class of typed fields"):
        make_observers([NoRecord()])
