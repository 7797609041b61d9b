"""Warps of a sub-core of `hopper` beside each other in long loops: as on an H200, wherever that is one number there.

Who has waited longest comes behind the greedy warp. The usual design puts those that have just issued there, then the youngest,
with which four warps and more that ask for twice what a pipe takes differ; three do not.
"""

from __future__ import annotations

import pytest

from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.studies.validate.recorded import folder_of, read_numbers
from warploom.studies.validate.runs import run_numbers
from warploom_lab.microbenchmarks import Microbenchmark, steady

pytestmark = pytest.mark.oracle

MEASURED = {number.name: number for number in read_numbers(folder_of("h200"))[1]}
ONE_NUMBER = 0.06  # cycles by which launches and sub-cores may differ
NEAR = 0.05
DESIGN = "modern + scheduler=cggty(then=longest, stays=0)"
OTHERWISE = {"steady.eee.stall7.16w", "steady.eee.stall8.16w"}  # three reads of one bank, four warps: not explained
AT_ONCE = {  # one of each kind for every run of the tests; the others take minutes
    *("steady.alu.stall4.12w", "steady.eee.stall6.16w", "steady.eeo.stall3.16w", "steady.ezz.stall3.16w"),
    *("steady.eez.stall5.12w", "steady.FFMA+HFMA2.8w", "steady.FFMA+FFMA+IMAD.12w"),
}


def _chosen() -> list[Microbenchmark]:
    plain = [one for one in steady.benchmarks() if ".yields" not in one.name]
    return [one for one in plain if MEASURED[f"{one.name}.spread"].value <= ONE_NUMBER]


CHOSEN = _chosen()
USUAL = ("steady.alu.stall4.12w", "steady.ezz.stall2.12w", "steady.ezz.stall3.16w", "steady.eez.stall3.16w")


def _ours(one: Microbenchmark, design: str) -> float:
    ((_, ours),) = run_numbers([one], [MEASURED[one.name]], load_machine("hopper"), design, lambda _: None, _fail)
    return ours


def _fail(name: str, error: WarploomError) -> None:
    raise error


def test_most_are_one_number() -> None:
    names = {one.name for one in CHOSEN}
    assert len(names) >= 118
    assert names >= AT_ONCE | OTHERWISE


@pytest.mark.parametrize(
    "one",
    [pytest.param(one, id=one.name, marks=() if one.name in AT_ONCE else pytest.mark.slow) for one in CHOSEN],
)
def test_cycles(one: Microbenchmark) -> None:
    measured, ours = MEASURED[one.name], _ours(one, DESIGN)
    if one.name in OTHERWISE:
        assert abs(ours - measured.value) >= NEAR, "it agrees now: strike it off the list of what differs"
    else:
        assert ours == pytest.approx(measured.value, abs=NEAR)


@pytest.mark.parametrize("name", USUAL)
def test_a_warp_that_comes_back_from_a_branch_finds_its_turn_taken(name: str) -> None:
    """Where three warps ask for what two can have, the youngest would leave the oldest nothing if it took its turn back."""
    (one,) = (one for one in CHOSEN if one.name == name)
    assert _ours(one, "modern") == pytest.approx(MEASURED[name].value, abs=NEAR)
    if name == "steady.alu.stall4.12w":
        assert _ours(one, "modern + scheduler=cggty(stays=0)") > MEASURED[name].value + 0.5
