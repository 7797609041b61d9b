"""Renaming that renames nothing is static allocation, and renaming that costs nothing takes no cycle."""

from __future__ import annotations

import pytest

from warploom.chip.machines import load_machine
from warploom.programs.named import program_named
from warploom.runs.simulate import simulate

ONE_SM = load_machine("rfv").scaled(1)


def _cycles(workload: str, design: str) -> int:
    return simulate(program_named(workload, "ptx"), design, ONE_SM, size="tiny").cycles


@pytest.mark.parametrize("workload", ["hotspot", "matrixmul", "reduction"])
def test_without_a_table_nothing_is_renamed_and_allocation_is_static(workload: str) -> None:
    assert _cycles(workload, "allocation=rfv(table_bytes=0)") == _cycles(workload, "baseline")


def test_a_file_that_is_too_small_for_all_ctas_holds_fewer_of_them_where_nothing_is_renamed() -> None:
    result = simulate(program_named("hotspot", "ptx"), "allocation=rfv(table_bytes=0, shrink=0.5)", ONE_SM, size="tiny")
    assert result.verified
    assert result.counters["throttled_cycles"] == 0


@pytest.mark.parametrize("design", ["rfv(rename_cycles=0, flags=operands)", "hardware-renaming(rename_cycles=0)"])
def test_a_table_that_is_read_in_no_time_costs_no_cycle_where_no_release_is_an_instruction(design: str) -> None:
    """vectoradd has no pbr."""
    assert _cycles("vectoradd", f"allocation={design}") == _cycles("vectoradd", "baseline")
