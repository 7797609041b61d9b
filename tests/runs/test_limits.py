"""What limits a run: each rule says so where its case was made, and nowhere else; the order of the rules decides between them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from warploom.chip.machines import load_machine
from warploom.runs.limits import Limits, limits_of
from warploom.runs.own_numbers import own_counters, own_energy
from warploom.runs.result import Result
from warploom.runs.simulate import simulate
from warploom.show.profile import profile


@cache
def watched() -> Result:
    return simulate("vectoradd", "baseline", load_machine("gtx480").scaled(1), size="tiny", observers=["hot-spots"])


def made(*, launch: dict[str, Any] | None = None, stalls: dict[str, int] | None = None, **counters: Any) -> Limits:
    """The limits of a run on a GTX 480 of 15 SMs, 1,000 cycles long, all SMs busy to the end with all their warps, else idle."""
    busy = {"ctas": 90, "busy_sms": 15, "busy_cycles": 15_000, "resident_cycles": 48 * 15_000, "cycles": 1000}
    zero = {name: 0 for name in watched().counters if name not in ("stall_cycles", "instructions_by_class")}
    counted = zero | {
        "stall_cycles": {"empty": 9_000_000} | (stalls or {"scoreboard": 10}),
        "instructions_by_class": {"memory": 1},
    }
    provenance = watched().provenance
    whole = replace(provenance, spec=replace(provenance.spec, machine=load_machine("gtx480")))
    launches = (replace(watched().launches[0], **busy | (launch or {})),)
    run = replace(watched(), cycles=1000, ctas_per_sm=6, launches=launches, counters=counted | counters, provenance=whole)
    found = limits_of(run)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("verdict", "case"),
    [
        ("an empty chip", {"launch": {"ctas": 4, "busy_sms": 4, "busy_cycles": 4000}, "issued": 7900}),
        ("an empty chip", {"launch": {"ctas": 30}}),
        ("a tail", {"launch": {"busy_cycles": 9000}}),
        ("issue slots", {"issued": 20_000}),
        ("a pipe", {"instructions_by_class": {"sfu": 1600}}),
        ("L1 bandwidth", {"l1_accesses": 9_500}),
        ("L2 bandwidth", {"l2_accesses": 11_000}),
        ("DRAM bandwidth", {"dram_reads": 6_000}),
        ("instruction fetch", {"stalls": {"fetch": 60, "scoreboard": 30}}),
        ("barriers", {"stalls": {"barrier": 60, "scoreboard": 30}}),
        ("full pipelines", {"stalls": {"pipeline": 60, "scoreboard": 30}}),
        ("registers withheld", {"stalls": {"allocation": 60, "scoreboard": 30}}),
        ("the scheduler's choice", {"stalls": {"scheduler": 60, "scoreboard": 30}}),
        ("memory latency", {"l1_accesses": 100, "l1_hits": 50}),
        ("latency of results", {"l1_accesses": 100, "l1_hits": 99}),
    ],
)
def test_each_rule_holds_in_its_case(verdict: str, case: dict[str, Any]) -> None:
    found = made(**case)
    assert found.verdict == verdict
    assert found.sentence.startswith(f"limited by {verdict}: ") and found.sentence.endswith(".")


def test_the_first_rule_that_holds_decides() -> None:
    busy: dict[str, Any] = {"dram_reads": 6_000, "stalls": {"barrier": 60}}
    assert made(launch={"ctas": 30}, **busy).verdict == "DRAM bandwidth"  # a few CTAs that saturate DRAM are not too few
    assert made(launch={"busy_cycles": 9000}, **busy).verdict == "a tail"


def test_peaks_are_the_machines() -> None:
    """177 GB/s at 700 MHz are 253 bytes a cycle, all of which 7,920 sectors in 1,000 cycles would take."""
    assert made(dram_reads=7_920).dram_used == pytest.approx(1, rel=0.01)
    assert made(issued=30_000).issue_slots == 1 and made(l1_accesses=15_000).l1_used == 1


def test_achieved_occupancy_is_what_an_observer_sees() -> None:
    limits = limits_of(watched())
    assert limits is not None and 0 < limits.achieved_occupancy <= limits.occupancy
    assert sum(launch.resident_cycles for launch in watched().launches) == sum(k.resident_cycles for k in profile(watched()))


def test_only_a_design_has_numbers_of_its_own() -> None:
    assert own_counters(watched()) == {} and own_energy(watched()) == {}
    more = replace(watched(), counters=watched().counters | {"renames": 7, "by_place": [1, 2]})
    assert own_counters(more) == {"renames": 7}
