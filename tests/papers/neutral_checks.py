"""A mechanism that costs nothing changes no cycle: checks of every paper's mechanisms, on the core as plain Python.

`test_neutral.py` runs them apart. The register caches (`rfc`, `ltrf`) have no point at which they do nothing: a cache of one
entry serves reads that banks then need not serve.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from support.timing_kernels import Kernel, add, barrier, branch, exit_, fma, load, op, setp, store
from warploom.chip.machines import load_machine
from warploom.chip.simulate import Simulation
from warploom.designs import parse_design

assert os.environ.get("NUMBA_DISABLE_JIT") == "1"

BLOCKS = [
    [op("mov", 0), op("mov", 3), op("mov", 5), load(1, 0), add(2, 1, 1)],
    [add(2, 2, 1), fma(4, 2, 2, 1), setp(0, 4, 2), branch(1, 0)],
    [store(3, 2), barrier(), load(4, 5, "shared"), fma(6, 4, 2, 1), op("sin", 7, 6), store(3, 7), exit_()],
]


def _path(warp: int) -> list[int]:
    return [*range(5), *([5, 6, 7, 8] * (2 + warp % 3)), *range(9, 16)]


def _some_lanes(warp: int, pc: int, n: int) -> int:
    return 0xFFFFFFFF if (warp + pc + n) % 3 else 0x00FF00FF


LOOP = Kernel(BLOCKS, 8, warps_per_cta=2, ctas=6, path=_path, value=0)
DIVERGENT = Kernel(BLOCKS, 8, warps_per_cta=2, ctas=6, path=_path, mask=_some_lanes, value=0)


def _cycles(kernel: Kernel, design: str, machine: str) -> int:
    simulation = Simulation(parse_design(design).policies, load_machine(machine).scaled(1), check=True)
    simulation.launch(*kernel.launch())
    return simulation.result().cycles


@pytest.mark.parametrize("kernel", [LOOP, DIVERGENT], ids=["whole", "divergent"])
@pytest.mark.parametrize(
    ("paper", "design"),
    [
        ("warped-rf", "gating=active-mask"),
        ("warped-rf", "power=trimodal(wakeup=1)"),
        ("compression", "power=bank-gating(wakeup=0)"),
        ("rfv", "power=subarray-gating(wakeup=0)"),
        ("rfv", "allocation=rfv(table_bytes=0)"),
        ("rfv", "allocation=hardware-renaming(rename_cycles=0)"),
        ("regmutex", "allocation=regmutex"),
        ("regmutex", "allocation=regmutex-paired"),
        ("regmutex", "allocation=owner-warp"),
        ("gtx480", "hierarchy=bow(window=0)"),
    ],
)
def test_a_mechanism_that_costs_nothing_changes_no_cycle(paper: str, design: str, kernel: Kernel) -> None:
    assert _cycles(kernel, design, paper) == _cycles(kernel, "baseline", paper)


def test_units_that_take_no_time_and_are_never_busy_change_no_cycle() -> None:
    """Where lanes diverge, what is merged with must be read, which is a cost of its own."""
    design = "encoding=bdi(compression=0, decompression=0, compressors=16, decompressors=16, divergence=merge)"
    assert _cycles(LOOP, design, "compression") == _cycles(LOOP, "baseline", "compression")


@pytest.mark.parametrize("kernel", [LOOP, DIVERGENT], ids=["whole", "divergent"])
def test_a_level_that_holds_all_warps_is_no_level(kernel: Kernel) -> None:
    """All warps active, in turns: loose round robin."""
    two: Any = "scheduler=two-level(active=48, each=scheduler, inner=round-robin)"
    assert _cycles(kernel, two, "gtx480") == _cycles(kernel, "scheduler=lrr", "gtx480")
