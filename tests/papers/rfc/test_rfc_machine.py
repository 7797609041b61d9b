"""The machine of the register file cache paper: what its text says, in cycles, and no limit that the text does not have."""

from __future__ import annotations

import pytest

from support.timing_kernels import Kernel, add, barrier, exit_, fma, load, op, store
from warploom.chip.machines import load_machine
from warploom.chip.simulate import time_launches
from warploom.chip.sm import baseline_policies

MACHINE = load_machine("rfc")
GROUPS = 4  # banks of a cluster: a register lies in that of its number, moved on by its warp's


def _cycles(kernel: Kernel) -> int:
    return time_launches([kernel.launch()], baseline_policies(), MACHINE, check=True).cycles


def _each(body: list, **options) -> float:
    """Cycles that one repetition of some instructions adds."""
    short, long = (Kernel([body * n + [exit_()]], 16, **options) for n in (8, 16))
    return (_cycles(long) - _cycles(short)) / 8


@pytest.mark.parametrize("sources", [(1, 2, 3), (1, 2, 2 + GROUPS), (1, 1 + GROUPS, 1 + 2 * GROUPS), (1, 1, 1)])
def test_operands_of_one_bank_do_not_stall_an_instruction(sources: tuple[int, ...]) -> None:
    """Section 2.1: they are read in several cycles, which the three of figure 3 have room for."""
    assert _each([fma(1, *sources)]) == 8


def test_special_functions_and_shared_memory_take_what_table_4_says() -> None:
    assert _each([op("sin", 1, 1)]) == 20
    assert _each([load(1, 1, "shared")]) == 20


def test_one_warp_can_issue_every_cycle() -> None:
    """Nothing between fetch and write-back is narrower than the single instruction of a cycle."""
    independent = [fma(number, 14, 15, 13) for number in range(1, 9)]
    assert _each(independent) == len(independent)


def test_thirty_two_warps_are_resident_in_ctas_of_two() -> None:
    """Each CTA has a barrier that only its own warps open; all wait for memory at the same time."""
    body = [load(1, 2), add(3, 1, 1), barrier(), exit_()]
    one, all_of_them = (Kernel([body], 8, warps_per_cta=2, ctas=ctas) for ctas in (1, 16))
    latency = MACHINE.memory.latency
    assert _cycles(one) > latency
    assert _cycles(all_of_them) < 2 * latency


def test_a_warp_ends_without_waiting_for_its_stores() -> None:
    body = [store(1, 2), exit_()]
    waves = 10
    kernel = Kernel([body], 8, ctas=32 * waves)
    assert _cycles(kernel) < 2 * MACHINE.memory.latency + 32 * waves * 4  # the bandwidth of the stores, not a latency a wave
