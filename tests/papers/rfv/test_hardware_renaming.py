"""Hardware-only renaming: small kernels as plain Python, and the papers' programs under the shadow checker."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.plain_python import run_checks
from support.virtual_kernels import ONE_SM
from warploom.programs.workloads.registry import workload_names
from warploom.runs.simulate import simulate

CHECKS = Path(__file__).parent / "hardware_renaming_checks.py"


def test_small_kernels() -> None:
    """Compiling the core for one more policy would take longer than running these as plain Python."""
    run_checks(CHECKS)


@pytest.mark.slow
@pytest.mark.parametrize("name", workload_names())
def test_all_programs(name: str) -> None:
    result = simulate(name, "hardware-renaming", ONE_SM, size="tiny", check=True)
    assert result.verified is not False
    assert result.counters["renames"] > 0
