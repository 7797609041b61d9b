"""The figures of register file virtualization: which runs are compared with which."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from warploom.chip.machines import load_machine
from warploom.papers.ltrf import figures as ltrf
from warploom.papers.rfv import figures as rfv
from warploom.programs.named import program_named
from warploom.runs.simulate import simulate
from warploom.studies.reproduce.experiment import Figure


def test_times_are_those_of_programs_with_the_fewest_registers() -> None:
    """On every side of a comparison; compiler spill alone is compared with the code that it is made of."""
    (figure,) = (figure for figure in rfv.FIGURES if figure.place == "figure 11")
    designs = {run.design.name for run in figure.runs("tiny")}
    assert {design for design in designs if "max_registers=least" not in design} == {rfv.BASELINE, rfv.SPILL}
    assert {rfv.FRUGAL_WHOLE, rfv.FRUGAL_BASELINE, *rfv.SHRUNK.values()} <= designs


def test_times_and_energy_are_those_of_the_same_code() -> None:
    """Section 9.2 speaks of the baseline, which figure 12 is drawn against too."""
    (figure,) = (figure for figure in rfv.FIGURES if figure.place == "figure 12")
    designs = {run.design.name for run in figure.runs("tiny")}
    assert designs == {rfv.FRUGAL_BASELINE, rfv.FRUGAL_WHOLE, rfv.SHRUNK["64 KB"]}


@pytest.mark.parametrize(("paper", "active"), [("rfv", 6), ("ltrf", 8)])
def test_every_scheduler_has_a_ready_queue_of_its_own_and_takes_turns_in_it(paper: str, active: int) -> None:
    """GPGPU-Sim reads the size of the queue for each scheduler, and its inner order is round robin."""
    figures: tuple[Figure, ...] = {"rfv": rfv, "ltrf": ltrf}[paper].FIGURES
    schedulers = {run.design.policies.scheduler for figure in figures for run in figure.runs("tiny")}
    assert {(each.active, each.inner, each.each) for each in schedulers} == {(active, "round-robin", "scheduler")}


def test_a_ready_queue_of_six_for_each_scheduler_does_not_starve_the_baseline() -> None:
    """With three warps a scheduler, greedy, hotspot took a third more time than with six."""
    shared = "scheduler=two-level(active=6)"
    one_sm = load_machine("rfv").scaled(1)
    assert one_sm.sm.schedulers == 2
    alone, of_an_sm = (simulate(program_named("hotspot", "ptx"), each, one_sm, size="tiny") for each in (rfv.BASELINE, shared))
    assert alone.cycles < 0.85 * of_an_sm.cycles


def test_leakage_is_a_third_of_the_baselines_power_as_figure_7_has_it() -> None:
    """Half the file saves 20% of dynamic power and half of leakage: 30% of both together where leakage is a third."""
    runs: Any = [
        SimpleNamespace(energy_pj={"dynamic": 300.0, "leakage": 700.0}, cycles=100),
        SimpleNamespace(energy_pj={"dynamic": 50.0, "leakage": 350.0}, cycles=50),
    ]
    weight = rfv._leakage_weight(runs)
    dynamic, leakage = 3.0 + 1.0, weight * (7.0 + 7.0)
    assert leakage / (dynamic + leakage) == pytest.approx(rfv.LEAKAGE_SHARE)
    assert (0.2 * dynamic + 0.5 * leakage) / (dynamic + leakage) == pytest.approx(0.3)


def test_hotspot_has_the_resident_ctas_of_table_1_and_the_mean_without_that_is_a_choice_made_afterwards() -> None:
    (figure,) = (figure for figure in rfv.FIGURES if figure.place == "figure 11")
    most = {run.program.name: set[int]() for run in figure.runs("tiny")}
    for run in figure.runs("tiny"):
        most[run.program.name].add(run.machine.sm.ctas_per_sm)
    assert most["hotspot"] == {3, 8}, "as table 1 has it, and as resources allow"
    assert all(limits == {8} for name, limits in most.items() if name != "hotspot")
