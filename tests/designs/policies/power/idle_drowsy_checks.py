"""Checks of idle-drowsy on the core as plain Python; `test_idle_drowsy.py` runs them in a process of their own."""

from __future__ import annotations

import os
from typing import Any

import pytest

from support.timing_kernels import Kernel, add, exit_
from warploom.chip.machines import load_machine
from warploom.chip.simulate import time_launches
from warploom.designs import parse_design

assert os.environ.get("NUMBA_DISABLE_JIT") == "1"

MACHINE = load_machine("gtx480").scaled(1)
REGISTERS = 16


def counted(design: str) -> dict[str, Any]:
    """One addition of one warp, whose code comes from DRAM: its registers have long been idle when it issues."""
    kernel = Kernel([[add(1, 2, 3), exit_()]], REGISTERS)
    return time_launches([kernel.launch()], parse_design(design).policies, MACHINE, check=True).counters


@pytest.mark.parametrize("idle", [1, 20, 100])
def test_idle_registers_are_on_or_drowsy_and_all_else_is_off(idle: int) -> None:
    counters = counted(f"power=idle-drowsy(idle={idle})")
    assert counters["on_cycles"] + counters["drowsy_cycles"] == counters["allocated_cycles"] > 0
    assert counters["off_cycles"] == counters["entry_cycles"] - counters["allocated_cycles"]
    assert counters["wakeups"] == 3


def test_a_register_that_is_given_stays_on_for_its_idle_time() -> None:
    soon, late = (counted(f"power=idle-drowsy(idle={idle})")["on_cycles"] for idle in (20, 100))
    assert late - soon == (100 - 20) * REGISTERS


@pytest.mark.parametrize("wakeup", [0, 3, 9])
def test_reads_of_drowsy_registers_wait_until_they_are_awake(wakeup: int) -> None:
    """The cycle between a read's preparation and the read itself costs nothing."""
    assert counted(f"power=idle-drowsy(wakeup={wakeup})")["wakeup_stall_cycles"] == 2 * max(0, wakeup - 1)


def test_a_register_that_is_given_late_wakes_before_it_is_written() -> None:
    """The oracle gives a register when the instruction that writes it issues."""
    kernel = Kernel([[add(1, 2, 3), exit_()]], REGISTERS)
    policies = (parse_design(f"allocation=oracle + power=idle-drowsy(wakeup={wakeup})").policies for wakeup in (60, 90))
    soon, late = (time_launches([kernel.launch()], each, MACHINE, check=True).cycles for each in policies)
    assert late - soon == 90 - 60
