"""Recorded measurements: what is in the project is sound, the split is the one that was fixed, and a damaged table is refused."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.programs.workloads.registry import workload_names
from warploom.studies.validate.recorded import KERNELS, SINGLE_SIZES, folder_of, read_launches, read_numbers, read_table
from warploom.studies.validate.split import ADJUST, HELD_OUT, part_of

H200 = folder_of("h200")
HELD_OUT_WORKLOADS = [
    "backprop",
    "bloom",
    "cutcp",
    "heartwall",
    "imageblur",
    "jpeg",
    "lbm",
    "lud",
    "mri-q",
    "mum",
    "nbody",
    "neuralnet",
    "nw",
    "particlefilter",
    "phong",
    "scalarprod",
    "spmv",
    "videoenhance",
]


def test_the_split_is_the_one_that_was_fixed_before_measuring() -> None:
    assert [name for name in workload_names() if part_of(name) == HELD_OUT] == HELD_OUT_WORKLOADS
    assert part_of("hotspot") == ADJUST


@given(st.text())
def test_every_program_is_in_one_part(name: str) -> None:
    assert part_of(name) in (ADJUST, HELD_OUT)
    assert part_of(name) == part_of(name)


def test_workloads_were_measured_in_two_sizes_and_100_kernels_once() -> None:
    facts, launches = read_launches(H200)
    assert facts["name"] == "NVIDIA H200"
    for size in ("small", "paper"):
        assert {launch.program for launch in launches if launch.size == size} == set(workload_names())
    assert len({launch.program for launch in launches if launch.size == "own"}) == 100
    assert all(launch.cycles > 0 and (launch.instructions or 0) > 0 and launch.launch < launch.launches for launch in launches)
    assert len({(one.program, one.size, one.kernel, one.launch) for one in launches}) == len(launches)


def test_single_kernels_are_in_the_set_that_their_descriptions_name() -> None:
    sizes = {file.stem: json.loads(file.read_text()).get("size", "own") for file in (H200.parent / "kernels").glob("*.json")}
    assert Counter(sizes.values()) == {"own": 100, "fresh": 95}
    measured = [launch for launch in read_launches(H200)[1] if launch.size in SINGLE_SIZES]
    assert all(sizes[launch.program] == launch.size for launch in measured)


def test_what_is_recorded_is_small() -> None:
    assert sum(file.stat().st_size for file in H200.iterdir()) < 1_000_000  # some 4,600 numbers of microbenchmarks


def test_microbenchmarks_name_each_number_once() -> None:
    _, numbers = read_numbers(H200)
    assert len({number.name for number in numbers}) == len(numbers) > 200
    named = {number.name: number.value for number in numbers}
    assert named["bank.000"] == 3 and named["bank.001"] == 2  # three reads of one bank; two of one and one of the other
    assert all(number.what and number.unit for number in numbers)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda lines: lines[1:], "the first line does not say"),
        (lambda lines: ["# {", *lines[1:]], "is not JSON"),
        (lambda lines: [*lines[:2], lines[2] + "\t1"], "line 3 has not as many columns"),
        (lambda lines: [*lines[:2], lines[2].replace("adjust", "held-out", 1)], "belongs to the part adjust"),
        (lambda lines: [*lines[:2], "\t".join("x" for _ in lines[1].split("\t"))], "line 3 has no good value"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path: Path, change: Callable[[list[str]], list[str]], complaint: str) -> None:
    lines = (H200 / KERNELS).read_text().splitlines()[:3]
    (tmp_path / KERNELS).write_text("\n".join(change(lines)) + "\n")
    with pytest.raises(WarploomError, match=complaint):
        read_launches(tmp_path)


def test_a_device_that_was_not_measured_is_refused_with_those_that_were() -> None:
    with pytest.raises(WarploomError, match="recorded are h200"):
        folder_of("b200")


def test_sources_of_hopper_name_what_was_measured() -> None:
    """A name in backquotes is a microbenchmark that is recorded (with stars: several), or another number of the machine."""
    machine = load_machine("hopper")
    known = {number.name for number in read_numbers(H200)[1]} | set(machine.sources)
    named = {name for source in machine.sources.values() for name in re.findall("`([^`]+)`", source)}
    assert len(named) > 20
    assert sorted(name for name in named if not any(fnmatchcase(one, name) for one in known)) == []


def test_energy_and_stalls_are_tables_too() -> None:
    _, windows = read_table(H200 / "energy.tsv")
    assert {row["loop"] for row in windows} >= {"nop", "zero_0_reads", "random_reuse", "random_2_reads"}
    _, stalls = read_table(H200 / "stalls.tsv")
    for row in stalls:
        pipes = ("adu", "alu", "cbu", "fma", "fp64", "lsu", "tensor", "tex", "uniform", "xu")
        assert sum(int(row[f"pipe_{pipe}"]) for pipe in pipes) <= int(row["issue_active"]) * 1.01
