"""Breathing operand windows: hints, windows small enough to count by hand, and real programs; the shadow checker watches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.plain_python import run_checks
from support.timing_kernels import Kernel, add, exit_, fma, load, op, store
from warploom.chip.context import code_table
from warploom.chip.machines import load_machine
from warploom.chip.simulate import time_launches
from warploom.designs import parse_design
from warploom.papers.bow.hints import window_hints
from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import workload_names
from warploom.runs.execution import Executions
from warploom.runs.simulate import simulate

MACHINE = load_machine("gtx480").scaled(1)
BACK, THROUGH = "hierarchy=bow", "hierarchy=bow(write=through, hints=false)"


def run(body: list, design: str = BACK, **options: Any) -> dict[str, Any]:
    kernel = Kernel([[*body, exit_()]], 16, **options)
    result = time_launches([kernel.launch()], parse_design(design).policies, MACHINE, check=True)
    c = result.counters
    assert c["bow_hits"] + c["mrf_reads"] + c["forwarded_reads"] == c["rf_reads"]
    assert c["mrf_writes"] == c["rf_writes"] - c["bow_results"] + c["bow_writebacks"]
    return {**c, "cycles": result.cycles}


def test_mechanisms() -> None:
    run_checks(Path(__file__).parent / "bow_checks.py")


def mov(dst: int) -> Any:
    return op("mov", dst)


def hints_of(body: list, window: int = 3) -> list[tuple[int, int]]:
    code = Kernel([[*body, exit_()]], 16).code()
    return [(int(h["transient"]), int(h["unread"])) for h in window_hints(code, code_table(code, MACHINE), window)][: len(body)]


def test_hints_say_where_a_result_is_needed() -> None:
    body = [mov(1), mov(2), add(3, 1, 2), add(4, 3, 3), store(5, 4), add(6, 2, 2), store(5, 6)]
    assert hints_of(body) == [(1, 0), (0, 0), (1, 0), (1, 0), (0, 0), (1, 0), (0, 0)]
    # In a window of two, R1's only read comes one instruction too late: the window has nothing of it.
    assert hints_of(body, 2)[0] == (0, 1)
    # A value that is overwritten unread is needed by nobody.
    assert hints_of([mov(1), mov(1), add(2, 1, 1), store(2, 2)])[0] == (1, 1)


def test_neighbours_forward_their_operands() -> None:
    """Both operands of the first addition come from the file; later reads find them, and each other's results, in the window."""
    c = run([add(1, 2, 3), add(4, 2, 3), fma(5, 4, 2, 3), store(6, 5)])
    assert c["bow_hits"] == 2 + 3 + 1
    assert c["mrf_reads"] == 3  # R2 and R3 once, R6
    assert c["writes_bypassed"] == 1  # R1 is never read, R4 and R5 within the window


def test_a_read_that_is_under_way_is_shared() -> None:
    """The second instruction issues before the operand of the first has been read, and waits for the same read."""
    c = run([add(1, 2, 3), add(4, 2, 3), store(1, 4)])
    assert (c["mrf_reads"], c["bow_hits"]) == (2, 4)


def test_a_value_out_of_the_window_is_written_down_once() -> None:
    body = [mov(1), add(1, 1, 1), add(1, 1, 1), mov(2), mov(3), mov(4), mov(5), add(6, 1, 1), store(6, 6)]
    c = run(body)
    assert c["bow_consolidated"] + c["bow_dropped"] >= 2  # two of the three values of R1 never leave the window
    assert c["bow_writebacks"] + c["bow_late"] + c["bow_around"] >= 1
    assert c["mrf_reads"] == 2  # both operands of the last addition
    assert run(body, THROUGH)["mrf_writes"] == 8  # written through: every result


def test_a_partial_result_brings_only_its_lanes() -> None:
    masks = (0xFFFFFFFF, 0x0000FFFF, 0xFFFFFFFF)
    c = run([mov(1), add(1, 1, 1), store(1, 1)], mask=lambda warp, pc, n: masks[min(n, 2)])
    assert c["bow_incomplete"] == 0  # the whole value was in the window, and the result is merged into it


@pytest.mark.parametrize("name", ["hotspot", "bfs"])
def test_no_window_changes_nothing(name: str) -> None:
    """A mechanism with no window must change no cycle and no count."""
    executions = Executions()
    plain, none = (
        simulate(workload_program(name), design, "gtx480", size="tiny", check=True, executions=executions)
        for design in ("baseline", "hierarchy=bow(window=0)")
    )
    assert none.cycles == plain.cycles
    assert {key: none.counters[key] for key in plain.counters} == plain.counters
    assert none.energy_pj == plain.energy_pj


def checked(name: str, design: str, executions: Executions) -> dict[str, Any]:
    result = simulate(workload_program(name), design, "gtx480", size="tiny", check=True, executions=executions)
    assert result.verified
    c = result.counters
    assert c["bow_hits"] + c["mrf_reads"] + c["forwarded_reads"] == c["rf_reads"]
    assert c["mrf_writes"] == c["rf_writes"] - c["bow_results"] + c["bow_writebacks"]
    return c


@pytest.mark.parametrize("name", ["pathfinder", "parallax", "lavamd"])
def test_programs(name: str) -> None:
    executions = Executions()
    back, through = (checked(name, design, executions) for design in (BACK, THROUGH))
    wide = checked(name, "hierarchy=bow(window=7, entries=28)", executions)
    assert 0 < back["reads_bypassed"] < wide["reads_bypassed"]
    assert through["writes_bypassed"] == 0 < back["writes_bypassed"] < wide["writes_bypassed"]


@pytest.mark.slow
@pytest.mark.parametrize("name", workload_names())
def test_all_programs(name: str) -> None:
    executions = Executions()
    for design in (BACK, THROUGH, "hierarchy=bow(entries=6)", "hierarchy=bow(hints=false)"):
        checked(name, design, executions)


def test_loads_stay_in_order() -> None:
    """A load's result that comes when its instruction has left the window goes to the register file."""
    c = run([load(1, 2), mov(3), mov(4), mov(5), mov(6), mov(7), add(8, 1, 1), store(8, 8)])
    assert c["bow_late"] >= 1
