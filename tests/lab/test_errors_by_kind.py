"""What a machine says of its errors by kind of run follows from the table of launches, and the table from runs of today."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from support.places import ROOT
from warploom.chip.machines import load_machine
from warploom.chip.machines.compared import comparison, error_sentence
from warploom.runs.kinds import KINDS, kind_of
from warploom.runs.simulate import simulate
from warploom.studies.validate.programs import described_program
from warploom.studies.validate.split import HELD_OUT, part_of
from warploom_lab.generated.errors_by_kind import errors_by_kind, read_errors, summary

DEVICES = ROOT / "lab" / "src" / "warploom_lab" / "devices"
ROWS = read_errors(DEVICES / "h200" / "errors.tsv")


def test_the_errors_of_a_machine_are_those_of_the_table() -> None:
    hopper = comparison("hopper")
    assert hopper is not None
    assert [asdict(kind) for kind in hopper.kinds] == [
        {"name": kind, **summary(errors)} for kind, errors in errors_by_kind(ROWS).items() if errors
    ]


def test_the_manual_says_the_same() -> None:
    page = (ROOT / "docs" / "lab" / "hopper.md").read_text("utf-8")
    for kind in comparison("hopper").kinds:  # type: ignore[union-attr]
        assert f" | {kind.launches} | {kind.median:.1%} | {kind.nine_of_ten:.1%} |" in page


def test_only_launches_that_the_machine_was_not_adjusted_on_are_in_it() -> None:
    assert {part_of(row["program"]) for row in ROWS} == {HELD_OUT}
    assert {row["kind"] for row in ROWS} == set(KINDS)


def test_a_result_says_how_far_runs_of_its_kind_are_off() -> None:
    for kind in comparison("hopper").kinds:  # type: ignore[union-attr]
        said = error_sentence("hopper", "cold", kind.name)
        assert f"of runs of this kind ({kind.name}) by {kind.median:.1%}" in said
        assert f"({kind.launches} launches)" in said
    assert "kind" not in error_sentence("hopper", "warm", "waiting")  # which were compared cold


@pytest.mark.compiled
@pytest.mark.parametrize("program", ["bitonic_step", "compact_ballot", "chase_l1"])
def test_a_launch_of_the_table_still_has_its_cycles_and_its_kind(program: str) -> None:
    (row,) = (row for row in ROWS if row["program"] == program)
    machine = load_machine("hopper")
    launches = ((row["kernel"], int(row["launch"])),)
    made = simulate(described_program(DEVICES / "kernels", program), machine.design, machine, launches=launches)
    assert (made.launches[0].active_cycles, kind_of(made)) == (int(row["cycles"]), row["kind"])
