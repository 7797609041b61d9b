"""Tri-modal registers and active-mask gating: mechanisms as plain Python, programs with compiled code, and what is saved."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.plain_python import run_checks
from warploom.chip.machines import load_machine
from warploom.designs import parse_design, storage_bits
from warploom.designs.energy import load_technology
from warploom.papers.warped_rf.figures import FIGURES, WORKLOADS
from warploom.papers.warped_rf.ratios import savings_by_ratio
from warploom.programs.workloads.registry import workload_names, workload_set
from warploom.runs.result import Result
from warploom.runs.savings import against, reference_of, savings
from warploom.runs.simulate import simulate
from warploom.studies.reproduce.facts import load_facts

STATES = ("on_cycles", "drowsy_cycles", "off_cycles")
MACHINE = load_machine("warped-rf").scaled(2)


def test_mechanisms() -> None:
    run_checks(Path(__file__).parent / "warped_rf_checks.py")


@cache
def checked(workload: str, design: str = "warped-rf") -> Result:
    """A run that the shadow checker watches; its states add up, and every entry that is not off is allocated."""
    result = simulate(workload, design, MACHINE, size="tiny", check=True)
    assert result.verified
    counters = result.counters
    assert sum(counters[state] for state in STATES) == counters["entry_cycles"] == 1024 * 2 * result.cycles
    if "bdi" not in design:
        assert counters["on_cycles"] + counters["drowsy_cycles"] == counters["allocated_cycles"]
    if "rfc" not in design:
        assert counters["lanes_accessed"] + counters["lanes_gated"] <= 32 * (counters["mrf_reads"] + counters["mrf_writes"])
    assert 0 < counters["on_cycles"] < counters["entry_cycles"] / 4
    return result


@pytest.mark.parametrize("workload", WORKLOADS)
def test_states_add_up(workload: str) -> None:
    counters = checked(workload).counters
    assert 0 < counters["wakeups"] <= counters["mrf_reads"] + counters["mrf_writes"]
    assert counters["wakeup_stall_cycles"] <= 2 * counters["mrf_reads"]


def test_lanes_of_half_a_warp() -> None:
    """A CTA of nn has sixteen threads, the last one fewer; sgemm's warps are always full."""
    half, full = checked("nn").counters, checked("sgemm").counters
    assert half["lanes_accessed"] < half["lanes_gated"] < 1.01 * half["lanes_accessed"]
    assert full["lanes_gated"] == 0


def test_wake_up_in_one_cycle_costs_no_time() -> None:
    quick, usual, slow = (checked("nn", f"warped-rf(wakeup={number})") for number in (1, 3, 12))
    assert quick.counters["wakeup_stall_cycles"] == 0
    assert quick.cycles == checked("nn", "warped-rf(wakeup=0)").cycles < usual.cycles < slow.cycles


@pytest.mark.slow
@pytest.mark.parametrize("workload", workload_names())
@pytest.mark.parametrize("parameters", ["", "(wakeup=2, lookahead=1)", "(wakeup=9, lookahead=4)"])
def test_states_add_up_on_every_workload(workload: str, parameters: str) -> None:
    checked(workload, f"warped-rf{parameters} + scheduler=lrr")


@pytest.mark.slow
@pytest.mark.parametrize("workload", workload_set("warped-rf"))
@pytest.mark.parametrize("other", ["allocation=rfv", "encoding=bdi", "hierarchy=rfc"])
def test_combinations_on_programs(workload: str, other: str) -> None:
    checked(workload, f"warped-rf(lookahead=1) + scheduler=two-level(active=8) + {other}")


@pytest.mark.slow
def test_one_cycle_is_the_speed_of_registers_that_are_always_on() -> None:
    point = parse_design("warped-rf(wakeup=1)")
    for workload in ("nn", "bfs", "heartwall"):
        ours, plain = (simulate(workload, design, MACHINE, size="tiny") for design in (point, reference_of(point)))
        compared = against(ours, plain, point).to_dict()
        assert compared["slowdown"] == 0
        assert compared["leakage_saving"] > 0.8
        assert {"dynamic_saving", "total_saving", *(f"total_saving_{ratio}_to_1" for ratio in (2, 5, 8))} < set(compared)


def test_savings_at_other_ratios_weigh_accesses_against_leakage() -> None:
    """In the reference a bank of 64 entries leaks 1 pJ a cycle and an access costs 2; half of either is saved."""
    lanes = {"rf_read_lanes": 32 * 300, "rf_write_lanes": 32 * 100, "entry_cycles": 1024 * 100}
    plain = {
        "cycles": 100,
        "counters": lanes,
        "energy_pj": {"dynamic": 800.0, "leakage": 1600.0, "overhead": 0.0, "total": 2400.0},
    }
    ours = {"cycles": 101, "energy_pj": {"dynamic": 400.0, "leakage": 160.0, "overhead": 0.0, "total": 560.0}}
    saved = savings(ours, plain) | savings_by_ratio(ours, plain)
    assert saved["slowdown"] == pytest.approx(0.01)
    assert (saved["dynamic_saving"], saved["leakage_saving"]) == pytest.approx((0.5, 0.9))
    assert saved["total_saving_2_to_1"] == pytest.approx(saved["total_saving"]) == pytest.approx(1 - 560 / 2400)
    assert saved["total_saving_5_to_1"] == pytest.approx(1 - (1000 + 160) / (2000 + 1600))
    assert saved["total_saving_8_to_1"] == pytest.approx(1 - (1600 + 160) / (3200 + 1600))


def test_what_the_design_adds() -> None:
    machine = load_machine("warped-rf")
    assert storage_bits(parse_design("gating=active-mask"), machine) == 512
    assert storage_bits(parse_design("power=trimodal"), machine) == 2 * 1024


@pytest.mark.parametrize("name", ["warped-rf-90", "warped-rf-65", "warped-rf"])
def test_a_drowsy_cell_leaks_more_with_a_wider_margin(name: str) -> None:
    technology = load_technology(name)
    leakage = [technology.drowsy.ratio(technology.voltage, margin) for margin in (0, 0.1, 0.25, 0.4, 2.0)]
    assert leakage == sorted(leakage) and leakage[2] < 0.1 and leakage[-1] == 1


def test_the_paper_is_covered() -> None:
    """Every published number is measured by a figure or table, on results made up for the purpose."""
    counters = {
        "active_lanes": [0] * 32 + [10],
        "inter_access_distance": 200.0,
        "inter_access_distance_of_entries": 500.0,
        "rf_read_lanes": 640,
        "rf_write_lanes": 320,
        "entry_cycles": 1024 * 100,
    }
    energy = {"dynamic": 60.0, "leakage": 1600.0, "overhead": 0.0, "total": 1660.0}
    numbers = {"cycles": 100, "occupancy": 0.5, "registers_per_thread": 20, "ctas_per_sm": 4}
    result: Any = SimpleNamespace(**numbers, counters=counters, energy_pj=energy)
    outcomes = [figure.evaluate(dict.fromkeys(figure.runs("tiny"), result), "tiny") for figure in FIGURES]
    measured = {key: value for outcome in outcomes for key, value in outcome.facts.items()}
    assert set(measured) == {fact.id for fact in load_facts("warped-rf")}
    assert measured["category-1-count"] == 15
    assert measured["inter-access"] == 500  # every register counts once
    assert measured["never-allocated"] == pytest.approx(100 * (1 - 0.5 * 48 * 20 / 1024))
    assert measured["leakage-saved"] == measured["slow-down-3"] == 0
