"""Recordings and kernels of the user's own are programs of a plan like any workload."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import warploom as wl
from support.places import DATA
from warploom.base.errors import WarploomError
from warploom.runs.keys import keys_of
from warploom.runs.run import run
from warploom.studies.sweep.expansion import expand
from warploom.studies.sweep.plan import plan_from_dict

RECORDING = DATA / "recordings" / "symbols.wlr"
KERNEL = """
extern "C" __global__ void scale(float* out, const float* in, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * factor;
}
"""


@pytest.fixture
def plan(tmp_path: Path) -> dict[str, Any]:
    """A workload, a recording and two launches of a kernel."""
    file = tmp_path / "scale.cu"
    file.write_text(KERNEL)
    launch = {"file": str(file), "grid": 2, "block": [64], "arguments": ["out=f32[128]", "in=f32[128]:iota", "factor=2"]}
    return {
        "workloads": ["vectoradd", str(RECORDING), "scale", "longer"],
        "sizes": "tiny",
        "sms": 1,
        "kernels": {"scale": launch, "longer": {**launch, "grid": "1", "block": "128", "kernel": "scale"}},
    }


def changed(plan: dict[str, Any], **entries: Any) -> dict[str, Any]:
    return {**plan, "kernels": {**plan["kernels"], "scale": {**plan["kernels"]["scale"], **entries}}}


def test_they_run_and_give_what_a_single_run_gives(plan: dict[str, Any], tmp_path: Path) -> None:
    made = wl.sweep(plan, tmp_path / "out", jobs=1)
    table = made.table()
    assert not made.refused and list(table["plan.workload"]) == ["vectoradd", str(RECORDING), "scale", "longer"]
    assert list(table["workload"][2:]) == ["scale:scale", "scale:scale"] and table["key"].nunique() == 4
    alone = [run(point.spec) for point in made.points]
    assert list(table["cycles"]) == [result.cycles for result in alone]
    assert alone[1].verified and table["verified"][1]
    assert made.missing() == []


def test_one_run_stands_for_all_seeds_and_sizes(plan: dict[str, Any]) -> None:
    found = expand(plan_from_dict({**plan, "sizes": ["tiny", "small"], "replicates": 3}))
    names = [point.coordinates["workload"] for point in found.points]
    assert {name: names.count(name) for name in names} == {"vectoradd": 6, str(RECORDING): 1, "scale": 1, "longer": 1}
    assert sum("are not random" in reason for reason in found.skipped) == 3
    assert sum("has one size" in reason for reason in found.skipped) == 3


def test_conditions_know_them_by_name(plan: dict[str, Any]) -> None:
    found = expand(plan_from_dict({**plan, "where": "workload in ['scale', 'vectoradd']"}))
    assert [point.coordinates["workload"] for point in found.points] == ["vectoradd", "scale"]


def test_a_key_follows_what_is_in_the_files(plan: dict[str, Any], tmp_path: Path) -> None:
    def keys(plan: dict[str, Any]) -> list[str]:
        return keys_of(expand(plan_from_dict(plan)).specs)

    before = keys(plan)
    (tmp_path / "number.h").write_text("#define NUMBER 1.0f\n")
    file = tmp_path / "other.cu"
    file.write_text('#include "number.h"\n' + KERNEL.replace("* factor", "* factor * NUMBER"))
    here = {"file": str(file), "options": [f"-I{tmp_path}"]}
    with_header = keys(changed(plan, **here))
    assert [a == b for a, b in zip(before, with_header, strict=True)] == [True, True, False, True]
    (tmp_path / "number.h").write_text("#define NUMBER 3.0f\n")
    assert keys(changed(plan, **here))[2] not in (with_header[2], before[2])
    moved = tmp_path / "moved.wlr"
    moved.write_bytes(RECORDING.read_bytes())
    assert keys({**plan, "workloads": [str(moved)], "kernels": {}}) == [before[1]]


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"file": "none.cu"}, "there is no such file"),
        ({"file": "none.txt"}, "is not a kernel file; its name must end in .cu, .ptx"),
        ({"grid": 0}, "write one to three whole numbers from 1"),
        ({"argument": []}, "'argument' is not an entry of a kernel; did you mean 'arguments'"),
        ({"arguments": "out=f32[128]"}, "arguments is a list of texts"),
        ({"arguments": ["out=f32[128]"]}, "kernels, scale: "),
        ({"shared_bytes": -1}, "shared_bytes is a whole number from 0"),
        ({"kernel": "scala"}, "there is no kernel 'scala'; did you mean 'scale'"),
        ({"memory": "loose"}, "choose strict or lenient"),
        ({"options": ["-DN=4", "--std=c++17", "--time=times.csv"]}, "option '--time=times.csv' may write files; leave it out"),
    ],
)
def test_a_wrong_kernel_is_one_sentence(plan: dict[str, Any], entries: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WarploomError) as error:
        expand(plan_from_dict(changed(plan, **entries)))
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_names_must_mean_one_thing(plan: dict[str, Any]) -> None:
    launch = plan["kernels"]["scale"]
    with pytest.raises(WarploomError, match="'bfs' is also a workload"):
        expand(plan_from_dict({**plan, "kernels": {"bfs": launch}}))
    with pytest.raises(WarploomError, match="write each kernel as a table"):
        plan_from_dict({**plan, "kernels": ["scale"]})
    with pytest.raises(WarploomError, match=r"none.wlr: there is no such recording"):
        expand(plan_from_dict({**plan, "workloads": "none.wlr", "kernels": {}}))
