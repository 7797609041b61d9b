"""Finding workloads and sets by name, and judging outputs."""

import re

import numpy as np
import pytest

from warploom.base.errors import WarploomError
from warploom.programs.program import compare_outputs, workload_program
from warploom.programs.workloads.registry import (
    load_workload,
    select_workloads,
    set_names,
    sets_of,
    workload_names,
    workload_ptx,
    workload_set,
)


def test_every_folder_is_a_workload_with_ptx() -> None:
    assert "vectoradd" in workload_names()
    for name in workload_names():
        workload = load_workload(name)
        assert workload.name == name
        assert ".entry" in workload_ptx(name)
        assert set(sets_of(workload.name)) <= set(set_names())


def test_sets_are_what_papers_use() -> None:
    assert "vectoradd" in workload_set("rfv")
    assert len(workload_set("rfv")) == 16
    assert set(workload_set("all")) == set(workload_names())


def test_selection_keeps_order_and_drops_repetitions() -> None:
    assert select_workloads(["reduction,vectoradd", "reduction"]) == ["reduction", "vectoradd"]
    chosen = select_workloads(["reduction", "rfv"])
    assert chosen[0] == "reduction"
    assert sorted(chosen) == sorted(workload_set("rfv"))


@pytest.mark.parametrize(
    ("names", "complaint"),
    [(["vectoradd,"], "is empty"), (["vectorsum"], "did you mean 'vectoradd'"), (["qqq"], "`warploom workloads` lists them")],
)
def test_unknown_names_are_refused(names: list[str], complaint: str) -> None:
    with pytest.raises(WarploomError, match=complaint):
        select_workloads(names)


def test_inputs_are_the_same_every_time() -> None:
    program = workload_program("vectoradd")
    first, again = program.inputs("tiny"), program.inputs("tiny")
    assert all(np.array_equal(first[name], again[name]) for name in first)


@pytest.mark.parametrize(
    ("got", "tolerance", "complaint"),
    [
        ({"c": np.array([1.0, 2.0])}, {}, None),
        ({"c": np.array([1.0, 2.001])}, {"c": (1e-2, 0)}, None),
        ({"c": np.array([1.0, 2.001])}, {}, r"output c\[1\] is .*2.001.* where .*2.0.* is expected \(1 of 2 differ\)"),
        ({"c": np.array([1.0, 2.001])}, {"c": (0, 1e-6)}, "1 of 2 differ"),
        ({"c": np.array([1.0, np.nan])}, {"c": (1e-2, 0)}, "1 of 2 differ"),
        ({"c": np.array([1.0])}, {}, "has shape"),
        ({"d": np.array([1.0])}, {}, "'c' is missing"),
    ],
)
def test_outputs_are_compared_within_tolerance(
    got: dict[str, np.ndarray], tolerance: dict[str, tuple[float, float]], complaint: str | None
) -> None:
    difference = compare_outputs(got, {"c": np.array([1.0, 2.0])}, tolerance, "sum")
    if complaint is None:
        assert difference is None
    else:
        assert difference is not None
        assert re.search(complaint, difference)
