"""Checks of operand windows on the core as plain Python; `test_bow.py` runs them in a process of their own."""

from __future__ import annotations

import os

import pytest

from support.timing_kernels import Kernel, add, barrier, exit_, fma, op
from warploom.chip.machines import load_machine
from warploom.chip.simulate import time_launches
from warploom.compiler.code.instruction import Instruction
from warploom.designs import parse_design

assert os.environ.get("NUMBA_DISABLE_JIT") == "1"

MACHINE = load_machine("gtx480").scaled(1)
# R1 is written and lies compressed in the register file long before the rest, whose windows are empty of it.
WRITTEN_DOWN = [add(1, 2, 3), *(op("sin", 7, 7) for _ in range(8)), *(barrier() for _ in range(3))]


def moves(before: Instruction) -> int:
    """Instructions that the encoding puts in front of the last one, which writes half of the lanes of R1."""
    body = [*WRITTEN_DOWN, before, add(1, 5, 5)]
    policies = parse_design("hierarchy=bow(hints=false) + encoding=bdi").policies
    kernel = Kernel([[*body, exit_()]], 12, value=0, mask=lambda warp, pc, n: 0xFFFF if n == len(body) - 1 else 0xFFFFFFFF)
    return time_launches([kernel.launch()], policies, MACHINE, check=True).counters["moves"]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (op("mov", 1), 0),  # the window holds R1's newest value, and merges
        (add(4, 1, 1), 1),  # the window holds a copy: the newest value is that in the register file
        (add(4, 5, 5), 1),  # the window does not hold R1
    ],
)
def test_a_window_answers_only_for_results_that_are_not_written_down(before: Instruction, expected: int) -> None:
    assert moves(before) == expected


@pytest.mark.parametrize("sharing", [1, 2])
def test_all_operands_that_wait_for_one_read_are_served(sharing: int) -> None:
    """R2 lies behind two registers of its bank: additions that issue before it has been read wait with two operands each."""
    body = [fma(1, 18, 34, 2), *(add(4 + number, 2, 2) for number in range(sharing))]
    policies = parse_design("hierarchy=bow").policies
    kernel = Kernel([[*body, exit_()]], 60, warps_per_cta=4)
    counters = time_launches([kernel.launch()], policies, MACHINE, check=True).counters
    assert (counters["mrf_reads"], counters["bow_hits"]) == (4 * 3, 4 * 2 * sharing)
