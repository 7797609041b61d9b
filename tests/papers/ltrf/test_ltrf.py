"""Registers prefetched by intervals: the intervals themselves, hand-made kernels, and real programs; the checker watches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warploom.papers.ltrf
from support.random_kernels import options
from support.random_kernels import random_kernel as random_code
from support.timing_kernels import Kernel, add, branch, exit_, fma, op, setp, store
from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.chip.simulate import time_launches
from warploom.compiler.backend.allocate import allocate
from warploom.designs import parse_design
from warploom.papers.ltrf.intervals import INTERVAL, register_intervals, with_intervals, working_sets
from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import workload_names
from warploom.runs.execution import Executions
from warploom.runs.simulate import simulate

LARGE = str(Path(warploom.papers.ltrf.__file__).parent / "machines" / "ltrf-large.toml")
PLAIN, PREFETCHED = "scheduler=two-level", "scheduler=two-level + hierarchy=ltrf"


def mov(dst: int) -> Any:
    return op("mov", dst)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), size=st.sampled_from([8, 12, 16]))
def test_an_interval_is_entered_at_its_start_and_fits(seed: int, size: int) -> None:
    code = allocate(random_code(seed, size=60, variables=14), options())
    pieces, intervals = register_intervals(code, size)
    owners = [piece for interval in intervals for piece in interval.pieces]
    assert len(owners) == len(set(owners))  # each piece in one interval
    assert 0 in intervals[0].pieces
    for interval in intervals:
        assert interval.registers.bit_count() <= size or len(interval.pieces) == 1
        for piece in interval.pieces:
            assert pieces[piece].registers & ~interval.registers == 0
            assert piece == interval.header or pieces[piece].before & set(owners) <= interval.pieces
    made = with_intervals(code, size)
    assert [i for i in made.instructions() if i.op != INTERVAL] == list(code.instructions())
    named = {one.registers for one in intervals if one.registers}
    assert set(working_sets(made).values()) <= named


def test_a_loop_that_fits_joins_what_is_before_it() -> None:
    blocks = [[mov(1), mov(2)], [add(1, 1, 2), setp(0, 1, 2), branch(1, 0)], [store(1, 2), exit_()]]
    _, intervals = register_intervals(Kernel(blocks, 8).code(), 8)
    assert len(intervals) == 1


def _body() -> list[Any]:
    """Arithmetic on sixteen registers without slow memory: nobody is suspended, and nothing leaves the cache."""
    first = [mov(n) for n in range(16)]
    return [*first, *(fma(n % 16, (n + 1) % 16, (n + 5) % 16, n % 16) for n in range(60)), exit_()]


def test_an_interval_that_fits_costs_nothing() -> None:
    """A mechanism that moves nothing must change no cycle, where banks never conflict; both run the code with its interval."""
    whole = load_machine("gtx480").scaled(1)
    machine = replace(whole, register_file=replace(whole.register_file, read_ports=4, write_ports=4, single_ported=False))
    kernel = Kernel([_body()], 16, warps_per_cta=4)
    made = replace(kernel, blocks=[block.instructions for block in with_intervals(kernel.code(), 16).blocks])
    plain, cached = (
        time_launches([made.launch()], parse_design(design).policies, machine, check=True) for design in (PLAIN, PREFETCHED)
    )
    assert plain.counters["bank_conflicts"] == 0
    assert (cached.counters["ltrf_intervals"], cached.counters["ltrf_fetched"], cached.counters["mrf_reads"]) == (4, 0, 0)
    assert cached.cycles == plain.cycles


def test_a_warp_waits_for_its_registers() -> None:
    """Two intervals of nine registers: what the second reads of the first comes up again, and is waited for."""
    first = [mov(n) for n in range(9)]
    second = [mov(n) for n in range(9, 17)]
    body = [*first, *second, fma(0, 1, 2, 3), store(0, 0), store(9, 10), exit_()]
    kernel = Kernel([body], 20)
    made = replace(kernel, blocks=[block.instructions for block in with_intervals(kernel.code(), 9).blocks])
    design = parse_design("scheduler=two-level + hierarchy=ltrf(entries=9)")
    c = time_launches([made.launch()], design.policies, load_machine(LARGE).scaled(1), check=True).counters
    assert c["ltrf_misses"] == 0
    assert c["ltrf_fetched"] >= 3 and c["ltrf_waits"] >= 1 and c["ltrf_waited"] >= 6
    assert c["ltrf_dead"] >= 1  # R4 to R8 are read by nobody


def test_it_needs_active_warps() -> None:
    with pytest.raises(WarploomError, match="take scheduler=two-level"):
        simulate(workload_program("vectoradd"), "hierarchy=ltrf", "gtx480", size="tiny")


def checked(name: str, design: str, executions: Executions) -> dict[str, Any]:
    result = simulate(workload_program(name), design, LARGE, size="tiny", check=True, executions=executions)
    assert result.verified
    c = result.counters
    assert c["ltrf_hits"] + c["ltrf_misses"] == c["rf_reads"]
    assert c["ltrf_results"] + c["ltrf_below"] == c["rf_writes"]
    assert c["mrf_writes"] == c["ltrf_below"] + c["ltrf_written_down"]
    return {**c, "cycles": result.cycles}


@pytest.mark.parametrize("name", ["pathfinder", "parallax", "lavamd"])
def test_programs(name: str) -> None:
    executions = Executions()
    aware, blind = (
        checked(name, design, executions) for design in (PREFETCHED, "scheduler=two-level + hierarchy=ltrf(liveness=false)")
    )
    assert aware["ltrf_hit_rate"] > 0.99
    assert aware["ltrf_fetched"] < blind["ltrf_fetched"]
    assert aware["ltrf_written_down"] <= blind["ltrf_written_down"]


@pytest.mark.slow
@pytest.mark.parametrize("name", workload_names())
def test_all_programs(name: str) -> None:
    executions = Executions()
    for design in (PREFETCHED, "scheduler=two-level + hierarchy=ltrf(entries=8)"):
        checked(name, design, executions)
