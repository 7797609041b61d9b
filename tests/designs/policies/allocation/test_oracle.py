"""The oracle on a smaller file: nobody waits for ever, nothing is lost, and what older CTAs may need is left to them."""

from __future__ import annotations

from typing import Any

import pytest

from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.runs.simulate import simulate

ONE_SM = load_machine("gtx480").scaled(1)


def timed(name: str, share: float, guarded: int) -> Any:
    """A workload, checked, with the combination of policies that the core's own tests have compiled."""
    text = f"scheduler=two-level(active=48) + allocation=oracle(shrink={share}, guarded={guarded}) + power=bank-gating(wakeup=0)"
    return simulate(name, text, ONE_SM, size="tiny", check=True)


@pytest.mark.parametrize("guarded", [1, 2, 8])
def test_with_too_few_registers_warps_wait_and_end_with_the_same_results(guarded: int) -> None:
    whole, small = timed("matrixmul", 1.0, guarded), timed("matrixmul", 0.25, guarded)
    assert whole.verified and small.verified
    assert whole.counters["waits"] == 0 < small.counters["waits"]
    assert small.counters["allocated_peak"] <= 256 < whole.counters["allocated_peak"]
    assert small.counters["releases"] == whole.counters["releases"] and small.cycles > whole.cycles
    assert small.occupancy == whole.occupancy


def test_ctas_that_take_a_part_of_what_they_need_are_in_each_others_way() -> None:
    """sgemm needs most of its registers all the time: of six CTAs in half the file four can go on, if none takes from them."""
    one, four = timed("sgemm", 0.5, 1), timed("sgemm", 0.5, 4)
    assert four.cycles < 0.7 * one.cycles


def test_one_cta_must_fit() -> None:
    with pytest.raises(WarploomError, match="registers of a CTA can be live at once, and the file holds 64"):
        timed("matrixmul", 0.04, 1)
