"""A suggestion is a name that somebody may have meant; otherwise all names are listed."""

from __future__ import annotations

import pytest

from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean
from warploom.chip.machines import load_machine
from warploom.chip.sm import make_policy
from warploom.programs.workloads.registry import load_workload


@pytest.mark.parametrize(("wrong", "meant"), [("vectorad", "vectoradd"), ("gtoo", "gto"), ("bsf", "bfs"), ("f33", "f32")])
def test_what_is_nearly_right_is_suggested(wrong: str, meant: str) -> None:
    assert did_you_mean(wrong, ["nothing-like-it", meant]) == f"; did you mean {meant!r}?"


@pytest.mark.parametrize(("wrong", "known"), [("nothing", "phong"), ("nope", "hopper"), ("x", "lrr")])
def test_what_shares_some_letters_is_not(wrong: str, known: str) -> None:
    assert did_you_mean(wrong, [known, "a"]) == f"; known are a, {known}"


def test_names_of_all_kinds_are_judged_alike() -> None:
    for load, name in (
        (load_workload, "nothing"),
        (load_machine, "nope"),
        (lambda name: make_policy("power", name), "sleepless"),
    ):
        with pytest.raises(WarploomError) as refused:
            load(name)
        assert "did you mean" not in str(refused.value)
