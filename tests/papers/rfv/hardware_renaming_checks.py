"""Checks of hardware-only renaming on small kernels, run without compilation by `test_hardware_renaming`."""

from __future__ import annotations

from support.timing_kernels import Kernel, add, exit_, fma, setp, store
from support.virtual_kernels import launch, mov, random_kernel, run
from warploom.chip.machines import load_machine
from warploom.designs import parse_design

HARDWARE = parse_design("hardware-renaming")
SMALL = load_machine("rfv", **{"sm.registers_per_sm": 2048, "register_file.entries_per_bank": 16}).scaled(1)


def test_a_result_of_all_lanes_takes_a_fresh_entry() -> None:
    c = run(Kernel([[mov(0), mov(1), *[add(0, 0, 1)] * 6, store(0, 1), exit_()]], 2), "hardware-renaming")
    assert c["renames"] == 8
    assert 2 <= c["physical_peak"] <= 4


def test_a_result_of_some_lanes_stays_in_place() -> None:
    body = [mov(0), mov(1), *[add(0, 0, 1)] * 6, store(0, 1), exit_()]
    kernel = Kernel([body], 2, mask=lambda warp, pc, n: 0xFFFF if 2 <= pc < 8 else 0xFFFFFFFF)
    assert run(kernel, "hardware-renaming")["renames"] == 2


def test_dead_registers_stay_mapped() -> None:
    body = [one for register in range(8) for one in (mov(register), setp(0, register, register))]
    kernel = Kernel([[*body, exit_()]], 8)
    hardware, compiler = run(kernel, "hardware-renaming"), run(kernel, "rfv")
    assert hardware["physical_peak"] == 8 > compiler["physical_peak"]
    assert hardware["releases_pir"] == hardware["metadata"] == 0


def test_a_full_file_does_not_deadlock() -> None:
    for seed in range(3):
        kernel = random_kernel(seed, 16, 40, 2, 4)
        result = launch(*kernel.launch(), HARDWARE, SMALL)
        assert result.ctas_per_sm == 2 and result.counters["ctas"] == 4
        assert result.counters["allocated_peak"] <= 64


def test_the_extra_stage() -> None:
    kernel = Kernel([[mov(0), mov(1), mov(2), *[fma(0, 0, 1, 2)] * 30, exit_()]], 3)
    slow, fast = run(kernel, "hardware-renaming"), run(kernel, "hardware-renaming(rename_cycles=0)")
    assert 25 <= slow["cycles"] - fast["cycles"] <= 35


def test_the_extra_stage_costs_latency_but_no_throughput() -> None:
    """Six warps with independent instructions keep every latch full, with the stage or without it."""
    body = [mov(0), mov(1), *[add(2 + number % 8, 0, 1) for number in range(64)], exit_()]
    kernel = Kernel([body], 10, warps_per_cta=6)
    slow, fast = run(kernel, "hardware-renaming"), run(kernel, "hardware-renaming(rename_cycles=0)")
    assert fast["cycles"] <= slow["cycles"] < 1.03 * fast["cycles"]
