"""Every workload in machine code of three architectures gives what its reference says."""

from __future__ import annotations

import pytest

from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import workload_names
from warploom.runs.simulate import emulate, simulate

SOME = ("bfs-queue", "heartwall", "mum", "particlefilter", "reduction", "sad", "tpacf")  # calls, textures, shuffles, atomics


@pytest.mark.parametrize("name", workload_names())
def test_on_hopper(name: str) -> None:
    assert emulate(workload_program(name, "sm_90"), size="tiny").verified


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80"])
@pytest.mark.parametrize(
    "name", [name if name in SOME else pytest.param(name, marks=pytest.mark.slow) for name in workload_names()]
)
def test_on_older_ones(name: str, architecture: str) -> None:
    assert emulate(workload_program(name, architecture), size="tiny").verified


def test_the_core_times_machine_code_and_the_checker_agrees() -> None:
    result = simulate(workload_program("reduction", "sm_90"), "baseline", size="tiny", check=True)
    assert result.verified and result.checked and result.cycles > 0
    assert result.registers_per_thread == workload_program("reduction", "sm_90").module().facts("reduction").registers  # type: ignore[union-attr]
