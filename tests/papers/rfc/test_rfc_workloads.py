"""The register file cache on real programs, watched by the shadow checker; all of them under `make verify`."""

from __future__ import annotations

from typing import Any

import pytest

from support.program_order import reads_avoided
from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import workload_names
from warploom.runs.execution import Executions
from warploom.runs.simulate import simulate

PROGRAMS = ("pathfinder", "parallax", "fft", "lavamd")  # barriers; textures and divergent loops; wide loads; partial warps
VARIANTS = (
    "rfc(entries=1, active=8)",
    "rfc(entries=2, active=8)",
    "rfc(entries=6, active=8)",
    "rfc(entries=6, active=8, last_use=false)",
    "rfc(entries=4, active=2, allocate=sources, replacement=lru, bypass_slow=false)",
    "rfc(entries=6, active=8, bypass_unread=true, evict_first=true)",
)


def checked(name: str, design: str, executions: Executions, machine: str = "rfc") -> dict[str, Any]:
    result = simulate(workload_program(name), design, machine, size="tiny", check=True, executions=executions)
    assert result.verified
    c = result.counters
    # Every operand comes from one place, every result goes to one; what leaves the cache arrives below.
    extra = c["moves"] + c["spills"]
    assert c["rfc_hits"] + c["mrf_reads"] + c["forwarded_reads"] <= c["rf_reads"] + extra
    assert c["rfc_results"] + c["bypasses"] + c["late_results"] == c["rf_writes"]
    assert c["mrf_writes"] - c["moves"] - c["refills"] <= c["bypasses"] + c["late_results"] + c["writebacks"]
    assert c["last_reads_wrong"] == 0
    assert c["last_reads_unmarked"] < c["last_reads"]
    return c


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_under_every_variant(name: str) -> None:
    executions = Executions()
    found = {design: checked(name, design, executions) for design in VARIANTS}
    small, middle, whole, unmarked, _, refined = found.values()
    assert small["mrf_read_reduction"] < middle["mrf_read_reduction"] < whole["mrf_read_reduction"]
    assert whole["mrf_write_reduction"] > unmarked["mrf_write_reduction"]
    assert refined["rfc_writes"] <= whole["rfc_writes"]


@pytest.mark.slow
@pytest.mark.parametrize("name", workload_names())
def test_all_programs(name: str) -> None:
    """On the machine with most warps, where every program fits."""
    executions = Executions()
    for entries in (1, 2, 6):
        for active in (2, 6, 8):
            checked(name, f"rfc(entries={entries}, active={active})", executions, "gtx480")
    for design in VARIANTS[3:]:
        checked(name, design, executions, "gtx480")


@pytest.mark.parametrize("name", ["parallax", "pathfinder"])  # divergent loops; barriers, predicated code, uniform registers
def test_reads_avoided_follow_from_the_order_of_the_program_alone(name: str) -> None:
    """The count along each warp knows nothing of time and finds the same hits."""
    executions = Executions()
    program = workload_program(name, "sm_75")
    timed = simulate(program, "hierarchy=rfc(bypass_slow=false)", "rfc", size="tiny", executions=executions)
    (execution,) = executions.made.values()
    counted = [reads_avoided(launch.code, trace, 6) for launch, trace in execution.traced()]
    assert sum(avoided for avoided, _ in counted) == timed.counters["rfc_hits"]
    assert sum(reads for _, reads in counted) == timed.counters["rf_reads"]
