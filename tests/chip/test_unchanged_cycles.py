"""Cycles of machines with operand collectors, pinned: stages that other machines choose must not touch them."""

from __future__ import annotations

import pytest

from warploom.programs.named import program_named
from warploom.runs.simulate import simulate


@pytest.mark.parametrize(
    ("machine", "workload", "cycles"),
    [
        ("gtx480", "vectoradd", 2281),
        ("gtx480", "reduction", 6072),
        ("gpgpusim-gtx480", "hotspot", 6846),
        ("ampere-collectors", "hotspot", 8989),
        ("rfv", "reduction", 6914),
    ],
)
def test_cycles_are_what_they_were(machine: str, workload: str, cycles: int) -> None:
    design = "rfv" if machine == "rfv" else "baseline"
    assert simulate(program_named(workload, "ptx"), design, machine, size="tiny").cycles == cycles
