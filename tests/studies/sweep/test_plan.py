"""From a plan to its runs: what is listed is run, each combination once; what makes no sense is counted or explained."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warploom.base.errors import WarploomError
from warploom.runs.keys import keys_of
from warploom.studies.sweep.axes import values_of
from warploom.studies.sweep.expansion import Expansion, expand
from warploom.studies.sweep.plan import make_plan, plan_from_dict, read_plan

SMALL = {"workloads": "vectoradd", "sizes": "tiny", "sms": 1}


def points(**entries: Any) -> Expansion:
    return expand(plan_from_dict(SMALL | entries))


def where(found: Expansion, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(point.coordinates.get(name) for name in names) for point in found.points]


def test_a_grid_is_every_combination_of_its_axes() -> None:
    found = points(workloads=["vectoradd", "bfs"], designs=["baseline", "rfv"], sizes=["tiny", "small"], sms=[1, 2])
    assert len(found.points) == 2 * 2 * 2 * 2
    assert len(set(keys_of(found.specs))) == 16
    assert {point.spec.machine.chip.sms for point in found.points} == {1, 2}


def test_the_same_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(
        'workloads = ["vectoradd"]\ndesigns = ["baseline", "rfv"]\nsizes = "tiny"\nsms = 1\n'
        "[parameters]\nallocation.shrink = [0.5, 0.7]\n[overrides]\nl1.latency = { from = 20, to = 40, step = 10 }\n"
        '[[grid]]\n[[grid]]\ndesigns = "regmutex"\nparameters = {}\n'
    )
    with pytest.raises(WarploomError, match=r"plan.toml, grid 2, parameters: none of the designs \(regmutex\)"):
        expand(read_plan(file))
    file.write_text(file.read_text().rpartition("[[grid]]")[0])
    found = expand(read_plan(file))
    assert len(found.points) == 3 * (1 + 2)
    assert {point.spec.machine.l1.latency for point in found.points} == {20, 30, 40}


def test_a_parameter_varies_only_designs_that_have_it() -> None:
    found = points(designs=["baseline", "rfv"], parameters={"allocation": {"shrink": [0.5, 0.75]}})
    assert where(found, "design", "allocation.shrink") == [("baseline", None), ("rfv", 0.5), ("rfv", 0.75)]
    assert [point.spec.design.to_dict()["allocation"].get("shrink") for point in found.points] == [None, 0.5, 0.75]


def test_any_field_of_a_run_is_an_axis_by_its_path() -> None:
    found = points(fields={"order": ["usual", "turns:3"], "machine.l1.latency": [20, 30]}, where="order != 'usual' or sms == 1")
    assert where(found, "order", "machine.l1.latency") == [("usual", 20), ("usual", 30), ("turns:3", 20), ("turns:3", 30)]
    assert [(spec.order, spec.machine.l1.latency) for spec in found.specs] == where(found, "order", "machine.l1.latency")
    assert len(set(keys_of(found.specs))) == 4
    for entries, said in (
        ({"ordre": "usual"}, "plan, fields: a run has no 'ordre'; did you mean 'order'"),
        ({"order": "backwards"}, "plan, fields: .*backwards"),
        ({"timed": False}, "plan, fields: every run of a plan is timed"),
    ):
        with pytest.raises(WarploomError, match=said):
            points(fields=entries)


def test_policies_and_options_are_axes_too() -> None:
    found = points(parameters={"scheduler": ["gto", "two-level(active=4)"], "register_file": [0.5, 1.0]})
    assert where(found, "scheduler", "register_file") == [
        ("gto", 0.5),
        ("gto", 1.0),
        ("two-level(active=4)", 0.5),
        ("two-level(active=4)", 1.0),
    ]
    assert found.points[-1].spec.design.policies.scheduler.active == 4


def test_a_combination_that_is_refused_is_counted_with_its_reason() -> None:
    axes = {"allocation": ["static", "rfv", "owner-warp"], "scheduler": ["gto", "owner-warp-first"]}
    found = points(designs="baseline", parameters=axes)
    assert where(found, "allocation", "scheduler") == [
        ("static", "gto"),
        ("rfv", "gto"),
        ("owner-warp", "gto"),
        ("owner-warp", "owner-warp-first"),
    ]
    (reason,) = found.skipped
    assert found.skipped[reason] == 2 and "only allocation=owner-warp has owners to put first" in reason


def test_conditions_leave_points_out() -> None:
    found = points(
        designs=["baseline", "rfv"],
        parameters={"allocation": {"shrink": [0.5, 0.75, 1.0]}},
        where=["design == 'baseline' or allocation.shrink < 1", "not (allocation == 'rfv' and allocation.shrink in [0.75, 2])"],
    )
    assert where(found, "design", "allocation.shrink") == [("baseline", None), ("rfv", 0.5)]
    assert sum(found.skipped.values()) == 2


def test_replicates_are_the_own_seed_and_those_that_follow() -> None:
    found = points(workloads=["vectoradd", "lib"], replicates=3)
    assert where(found, "workload", "seed") == [("vectoradd", 5), ("vectoradd", 6), ("vectoradd", 7), ("lib", None)]
    assert [point.spec.seed for point in found.points] == [5, 6, 7, None]
    assert "not random" in next(iter(found.skipped)) and sum(found.skipped.values()) == 2


def test_without_a_code_each_machine_has_its_usual_one() -> None:
    found = points(machines=["gtx480", "hopper"])
    assert where(found, "machine", "code") == [("gtx480", "ptx"), ("hopper", "sm_90")]
    assert [point.spec.code for point in found.points] == ["ptx", "sm_90"]
    assert where(points(machines=["gtx480", "hopper"], codes="sm_75"), "code") == [("sm_75",), ("sm_75",)]


def test_overlapping_grids_make_each_run_once() -> None:
    grid = {"designs": ["baseline", "rfv"]}
    found = points(grid=[grid, grid, {"designs": ["rfv", "regmutex"]}])
    assert where(found, "design") == [("baseline",), ("rfv",), ("regmutex",)]


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"desings": "rfv"}, "'desings' is not an entry of a plan; did you mean 'designs'"),
        ({"workloads": []}, "it names no workloads"),
        ({"designs": ["rvf"]}, "'rvf' is not known"),
        ({"machines": ["gtx481"]}, "gtx481"),
        ({"sizes": "huge"}, "size 'huge' is not known"),
        ({"codes": "sm_1"}, "sm_1"),
        ({"seeds": [-1]}, "a seed is a whole number from 0"),
        ({"seeds": [1], "replicates": 2}, "exclude each other"),
        ({"replicates": 0}, "replicates must be a whole number from 1"),
        ({"replicates": 1_000_000}, "replicates must be 100,000 at most, not 1,000,000"),
        ({"parameters": {"allocation": {"shrunk": 1}}}, "no policy has 'allocation.shrunk'; did you mean 'allocation.shrink'"),
        ({"parameters": {"allocation": {"shrink": 0.5}}}, "none of the designs (baseline) has 'allocation.shrink'"),
        ({"overrides": {"latency": 3}}, "a machine has no 'latency'; write table.key"),
        ({"overrides": {"sm.sharedbytes": [1, 2]}}, "a machine has no 'sm.sharedbytes'; did you mean 'sm.shared_bytes'"),
        ({"parameters": {"scheduler": ["gto", "gtoo"]}}, "there is no such policy; did you mean 'gto'"),
        ({"parameters": {"scheduler": ["gto", "two-level(active=0)"]}}, "active must lie between 1 and"),
        ({"check": 1}, "check must be true or false"),
        ({"sms": "one"}, "sms must be a whole number"),
        ({"where": "sizes == 'tiny'"}, "points have no 'sizes'; did you mean 'size'"),
        ({"where": "__import__('os')"}, "cannot stand in a condition"),
        ({"where": "size is 3"}, "cannot stand in a condition"),
        ({"where": "size <"}, "is not a condition"),
        ({"where": "size + 1 == 2"}, "which cannot be used in arithmetic"),
        ({"where": "size < 3"}, "cannot be compared"),
        ({"where": "1 / 0 == 1"}, "division by zero"),
        ({"seeds": {"from": 0, "to": 10**9, "step": 1}}, "100,000 are the most"),
        ({"seeds": {"from": 0, "to": 10, "step": 0}}, "does not lead from"),
        ({"seeds": {"from": 0, "to": 10}}, "is not a range"),
        ({"seeds": {"from": 0, "to": 5, "count": 3, "scale": "log"}}, "lies above 0"),
        ({"grid": {"designs": "rfv"}}, "with two brackets"),
        ({"workloads": "bsf"}, "workload 'bsf' is not known; did you mean 'bfs'"),
        ({"technologies": "none"}, "technology 'none' is not known"),
        ({"objectives": ["time"]}, "it is a goal, not a plan; give it to `warploom search`"),
        ({"kernels": {"blur": {"file": "blur.cu"}}}, "kernels: nothing runs 'blur'; name it among the workloads"),
    ],
)
def test_a_wrong_plan_is_one_sentence(entries: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WarploomError) as error:
        points(**entries)
    assert sentence in str(error.value) and "\n" not in str(error.value)
    assert str(error.value).startswith("plan")


def test_a_file_that_is_not_there_or_not_toml(tmp_path: Path) -> None:
    with pytest.raises(WarploomError, match="the plan cannot be read"):
        make_plan(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("workloads = [")
    with pytest.raises(WarploomError, match="not valid TOML"):
        make_plan(tmp_path / "bad.toml")


numbers = st.one_of(st.integers(-50, 50), st.decimals(-5, 5, places=2).map(float))


@settings(deadline=None)
@given(first=numbers, step=st.one_of(st.integers(1, 7), st.sampled_from([0.1, 0.25, 0.3])), count=st.integers(1, 30))
def test_a_range_by_step_has_its_ends_and_equal_distances(first: float, step: float, count: int) -> None:
    last = first + step * (count - 1)
    values = values_of({"from": first, "to": round(last, 6), "step": step}, "here")
    assert len(values) == count and values[0] == first
    assert values[-1] == pytest.approx(last)
    assert all(math.isclose(after - before, step, abs_tol=1e-9) for before, after in pairwise(values))
    whole = isinstance(first, int) and isinstance(step, int)
    assert all(isinstance(value, int) is whole for value in values)


@settings(deadline=None)
@given(st.integers(1, 1000), st.integers(1, 1000), st.integers(1, 40), st.sampled_from(["linear", "log"]))
def test_a_range_by_count_lies_between_its_ends_in_order(first: int, last: int, count: int, scale: str) -> None:
    values = values_of({"from": first, "to": last, "count": count, "scale": scale}, "here")
    assert values[0] == first and len(values) <= count
    assert count == 1 or values[-1] == last
    assert sorted(values, reverse=last < first) == values and len(set(values)) == len(values)


@settings(deadline=None)
@given(
    designs=st.lists(st.sampled_from(["baseline", "rfv", "rfc", "regmutex"]), min_size=1, max_size=4),
    workloads=st.lists(st.sampled_from(["vectoradd", "bfs", "lib"]), min_size=1, max_size=3),
    shrink=st.lists(st.sampled_from([0.5, 0.6, 1.0]), min_size=1, max_size=3),
    replicates=st.integers(1, 3),
    kept=st.sampled_from(["true", "design != 'rfc'", "workload == 'bfs' or seed == 5", "allocation.shrink >= 0.6"]),
)
def test_expansion_counts_every_combination_once(
    designs: list[str], workloads: list[str], shrink: list[float], replicates: int, kept: str
) -> None:
    """Points and combinations that were left out add up; no two points are the same; every point fulfils the condition."""
    designs = ["rfv", *designs]
    entries = {"designs": designs, "workloads": workloads, "parameters": {"allocation.shrink": shrink}, "replicates": replicates}
    everything, found = points(**entries), points(**entries, where=kept)
    variants = sum(len(set(shrink)) if design == "rfv" else 1 for design in set(designs))
    seeds = sum(1 if workload == "lib" else replicates for workload in set(workloads))
    assert len(everything.points) == variants * seeds
    identities = {tuple(point.coordinates.items()) for point in everything.points}
    assert len(identities) == len(everything.points)
    assert {tuple(point.coordinates.items()) for point in found.points} <= identities
    assert len(found.points) + found.skipped[f"it does not fulfil `{kept}`"] == len(everything.points)
    assert len(set(keys_of(everything.specs))) == len(everything.points)
