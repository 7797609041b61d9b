"""A profile accounts for everything: its rows add up to the run's counters, and so do lines, blocks and loops."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from warploom.energy.account import READS, WIRES, WRITES
from warploom.machines import load_machine
from warploom.observers.hot_spots import COLUMNS, COUNTERS_OF
from warploom.register_file.layout import STALLS
from warploom.report.profile import ORDERS, TABLES, KernelProfile, paired, profile, source_lines, warp_cycles
from warploom.simulation.result import Result
from warploom.simulation.simulate import simulate
from warploom.workloads.program import workload_program

MACHINE = load_machine("gtx480").scaled(2)
# Values move between levels; registers are compressed; entries sleep and wake up.
DESIGNS = ("rfc", "compression", "warped-rf")
PROGRAMS = ("reduction", "matrixmul", "bfs")
_RESULTS: dict[tuple[str, str], Result] = {}


def watched(program: str, design: str) -> Result:
    if (program, design) not in _RESULTS:
        _RESULTS[program, design] = simulate(program, design, MACHINE, size="tiny", observers=["hot-spots"])
    return _RESULTS[program, design]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_rows_add_up_to_the_counters(program: str, design: str) -> None:
    result = watched(program, design)
    kernels = profile(result)
    counters = result.counters
    totals = [kernel.total() for kernel in kernels]
    for column, counter in COUNTERS_OF.items():
        assert sum(total[column] for total in totals) == counters[counter], column
    assert sum(total["threads"] for total in totals) == sum(n * lanes for n, lanes in enumerate(counters["active_lanes"]))
    stalls = {reason: sum(total["stalls"].get(reason, 0) for total in totals) for reason in STALLS}
    assert stalls == counters["stall_cycles"]
    for kernel, total in zip(kernels, totals, strict=True):
        assert warp_cycles(total) == kernel.resident_cycles > 0
        assert 0 < total["issue_cycles"] <= total["issues"]
    joules = {term.what: term.joules for term in result.energy_terms}
    attributed = joules[READS] + joules[WRITES] + joules.get(WIRES, 0.0)
    assert math.isclose(sum(total["energy_pj"] for total in totals), attributed * 1e12, rel_tol=1e-9)


def test_what_designs_do_is_seen_at_instructions() -> None:
    def rows(program: str, design: str) -> list[dict[str, Any]]:
        return [row for kernel in profile(watched(program, design)) for row in kernel.rows if row["pc"] >= 0]

    assert any(row["upper_reads"] for row in rows("matrixmul", "rfc"))
    assert any(row["encoded_reads"] for row in rows("matrixmul", "compression"))
    assert any(row["wakeup_wait_cycles"] for row in rows("matrixmul", "warped-rf"))
    assert not any(row["upper_reads"] or row["encoded_reads"] for row in rows("matrixmul", "warped-rf"))


@pytest.mark.parametrize("program", PROGRAMS)
def test_sums_by_line_and_block_are_the_total(program: str) -> None:
    for kernel in profile(watched(program, "rfc")):
        total = kernel.total()
        for grouped in (kernel.by_line(), kernel.by_block()):
            for column in COLUMNS:
                assert sum(row[column] for row in grouped) == total[column]
            for table in TABLES:
                assert {reason: sum(row[table].get(reason, 0) for row in grouped) for reason in total[table]} == total[table]
        for loop in kernel.by_loop():
            inside = [row for row in kernel.rows if loop["loop"] in row["loops"]]
            assert loop["issues"] == sum(row["issues"] for row in inside)
            assert loop["instructions"] == len(inside)


def test_loops_hold_what_is_executed_most() -> None:
    (kernel,) = profile(watched("matrixmul", "rfc"))
    loops = kernel.by_loop()
    assert loops and max(loop["issues"] for loop in loops) > kernel.total()["issues"] / 2


def test_the_same_code_is_paired_row_by_row_and_changed_code_by_alignment() -> None:
    (first,), (second,) = (profile(watched("matrixmul", design)) for design in ("rfc", "warped-rf"))
    pairs = paired(second.rows, second.rows)
    assert all(a is b for a, b in pairs)
    longer = [second.rows[0], {**second.rows[1], "instruction": "acquire", "line": 0}, *second.rows[1:]]
    added = paired(second.rows, longer)
    assert [b["instruction"] for a, b in added if a is None and b] == ["acquire"]
    assert sum(a is not None for a, _ in added) == len(second.rows)
    assert len(paired(first.rows, second.rows)) >= max(len(first.rows), len(second.rows))


def test_launches_of_a_kernel_are_added() -> None:
    result = watched("reduction", "rfc")
    (kernel,) = profile(result)
    assert kernel.launches == len(result.kernels) > 1
    assert kernel.cycles == result.cycles
    assert isinstance(kernel, KernelProfile)
    assert json.loads(json.dumps(kernel.to_dict()))["total"]["issues"] == result.warp_instructions


def test_lines_are_of_the_cuda_source() -> None:
    lines = source_lines(workload_program("matrixmul"))
    (kernel,) = profile(watched("matrixmul", "rfc"))
    named = {row["line"] for row in kernel.rows if row["instruction"].startswith("ld.global")}
    assert {lines[line - 1].strip() for line in named} == {
        "tile_a[y][x] = a[row * inner + start + x];",
        "tile_b[y][x] = b[(start + y) * width + column];",
    }
    nameless = [row for row in kernel.rows[:-1] if not row["line"]]  # hoisted by the compiler, which names no line then
    assert len(nameless) < len(kernel.rows) / 5


def test_every_order_is_a_number() -> None:
    (kernel,) = profile(watched("matrixmul", "rfc"))
    for key, meaning in ORDERS.values():
        assert meaning and all(isinstance(key(row), int | float) for row in kernel.rows)
