"""Workloads under register sharing: right results, checked registers, no deadlock, counters that add up."""

from __future__ import annotations

import pytest

from warploom.chip.machines import load_machine
from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import workload_names, workload_set
from warploom.runs.execution import Executions
from warploom.runs.result import Result
from warploom.runs.simulate import simulate

MACHINE = load_machine("regmutex").scaled(1)  # so that even tiny grids compete for sections
HALF = " + register_file=0.5"
COUNTERS = (
    "base_registers",
    "extended_registers",
    "sections",
    "acquires",
    "acquires_failed",
    "acquire_wait_cycles",
    "releases",
    "held_cycles",
    "compaction_moves",
    "occupancy_before",
    "occupancy_after",
)


def checked(name: str, *designs: str) -> list[Result]:
    program, executions = workload_program(name), Executions()
    results = []
    for text in designs:
        result = simulate(program, text, MACHINE, size="tiny", check=True, executions=executions)
        assert result.verified, (name, text)
        counters = result.counters
        assert set(COUNTERS) <= set(counters)
        assert counters["acquires"] == counters["releases"]
        assert counters["acquires_failed"] <= counters["acquires"]
        assert counters["occupancy_before"] <= counters["occupancy_after"] == pytest.approx(result.occupancy)
        results.append(result)
    return results


@pytest.mark.parametrize("name", workload_set("regmutex"))
def test_regmutex_on_the_full_and_on_half_the_file(name: str) -> None:
    """The paper's choice of sizes, and one size for all."""
    checked(name, "regmutex", "regmutex" + HALF, "regmutex(extended=4)")


@pytest.mark.parametrize("name", ["radixsort", "tpacf", "sad"])
def test_pairs(name: str) -> None:
    """Kernels with barriers in high-pressure code, with divergence in it, and with hardly anything else."""
    checked(name, "regmutex-paired" + HALF, "regmutex-paired(extended=6)")


@pytest.mark.parametrize("name", ["cutcp", "lavamd"])
def test_owner_warps(name: str) -> None:
    checked(name, "owf", "owf" + HALF)


def test_contention_can_be_weighed() -> None:
    """With few sections for warps that hold one most of the time, the compiler keeps heartwall's registers together."""
    scarce, weighed = checked("heartwall", "regmutex", "regmutex(weighed=true)")
    assert scarce.counters["extended_registers"] > 0 == weighed.counters["extended_registers"]


@pytest.mark.slow
@pytest.mark.parametrize("name", workload_names())
def test_all_sizes_on_full_and_half_files(name: str) -> None:
    sizes = [f"{policy}(extended={size})" for policy in ("regmutex", "regmutex-paired") for size in (0, 2, 4, 6, 8, 10, 12)]
    designs = [*sizes, *(f"owf(threshold={share})" for share in (0.1, 0.5)), "regmutex(weighed=true)"]
    checked(name, *(text + half for text in designs for half in ("", HALF)))
