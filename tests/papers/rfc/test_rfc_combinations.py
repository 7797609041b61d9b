"""The register file cache with the other five choices: what each pairing means, watched by the shadow checker."""

from __future__ import annotations

from typing import Any

import pytest

from warploom.programs.program import workload_program
from warploom.runs.execution import Executions
from warploom.runs.simulate import simulate

CACHE = "rfc(entries=4, active=6)"


def checked(name: str, design: str, executions: Executions) -> dict[str, Any]:
    result = simulate(workload_program(name), design, "rfc", size="tiny", check=True, executions=executions)
    assert result.verified
    return {**result.counters, "energy": result.energy_pj}


def test_everything_at_once() -> None:
    """Renamed, compressed, drowsy and gated below; architected names above, which survive the release of their entries."""
    executions = Executions()
    design = f"{CACHE} + allocation=rfv + encoding=bdi + power=trimodal + gating=active-mask"
    c = checked("pathfinder", design, executions)
    assert c["rfc_hits"] > 0 and c["writebacks"] > 0
    assert c["drowsy_cycles"] > 0  # entries of the main file have states, the cache is on
    assert c["bank_writes"] < 8 * c["mrf_writes"]  # evicted values are compressed
    assert c["releases_pir"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        "allocation=rfv",
        "allocation=rfv(shrink=0.5, spill=false)",
        "allocation=hardware-renaming",
        "allocation=regmutex",
        "allocation=oracle + power=unallocated-off",
        "encoding=bdi + power=bank-gating",
        "power=trimodal",
        "gating=active-mask",
    ],
)
def test_pairs(other: str) -> None:
    for name in ("pathfinder", "bfs", "hotspot", "parallax"):
        checked(name, f"{CACHE} + {other}", Executions())
