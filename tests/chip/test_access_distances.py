"""Cycles between two accesses to a register: the mean over accesses, and over registers."""

from __future__ import annotations

from support.timing_kernels import Kernel, add, exit_, op
from warploom.chip.machines import load_machine
from warploom.chip.result import finish_counters
from warploom.chip.simulate import time_launches
from warploom.chip.sm import baseline_policies


def test_a_register_that_is_seldom_accessed_counts_as_much_as_one_that_is_often() -> None:
    """R1 is read in every instruction of a chain; R2 is written first and read last."""
    body = [op("mov", 1), op("mov", 2), *(add(3, 1, 3) for _ in range(20)), add(4, 2, 3), exit_()]
    machine = load_machine("gtx480").scaled(1)
    counters = time_launches([Kernel([body], 8).launch()], baseline_policies(), machine, check=True).counters
    assert counters["distance_count"] > counters["entry_distance_count"] > 0
    assert counters["inter_access_distance_of_entries"] > 2 * counters["inter_access_distance"]


def test_means_are_taken_over_all_launches_together() -> None:
    plain = {"entry_cycles": 1, "allocated_cycles": 1, "live_cycles": 1}
    distances = {"distance_sum": 20, "distance_count": 6, "entry_distance_sum": 12.0, "entry_distance_count": 2}
    finished = finish_counters(plain | distances)
    assert finished["inter_access_distance"] == 20 / 6
    assert finished["inter_access_distance_of_entries"] == 6
