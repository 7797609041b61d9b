"""A profile accounts for everything: its rows add up to the run's counters, and so do lines, blocks and loops."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from warploom.chip.machines import load_machine
from warploom.chip.observers.hot_spots import COLUMNS, COUNTERS_OF
from warploom.chip.sm.layout import COUNTERS, STALLS
from warploom.designs import named_designs
from warploom.designs.energy.account import READS, WIRES, WRITES
from warploom.programs.named import program_named
from warploom.programs.program import workload_program
from warploom.runs.result import Result
from warploom.runs.simulate import simulate
from warploom.show.profile import ORDERS, TABLES, KernelProfile, paired, profile, source_lines, warp_cycles

CACHED = "searched-half"  # a register cache above compressed registers that sleep, lanes gated, half the file
RENAMED = "gpu-shrink"  # instructions of its own in the code, warps that wait for registers
PROGRAMS = ("reduction", "matrixmul", "bfs")
MACHINES = {"gtx480": (2, "ptx"), "hopper": (1, "sm_90")}  # SMs, and the code that they run
# What is counted without an instruction that it could be laid at: work that policies inject, fetches of groups, CTAs.
OF_NO_INSTRUCTION = {
    *("issued", "metadata", "metadata_skipped", "moves", "expansions", "spills", "refills", "write_backs", "lanes_gated"),
    *("fetches", "wrong_path_fetches", "ctas"),
}
# Counters of policies' own, and the columns that they are the sum of.
OF_POLICIES = {
    "rfc_hits": ("upper_reads",),
    "ltrf_hits": ("upper_reads",),
    "bow_hits": ("upper_reads",),
    "rfc_results": ("upper_writes",),
    "decompressor_activations": ("encoded_reads",),
    "wakeup_stall_cycles": ("wakeup_wait_cycles",),
}
_RESULTS: dict[tuple[str, str, str], Result] = {}


def watched(program: str, design: str, machine: str = "gtx480") -> Result:
    if (program, design, machine) not in _RESULTS:
        sms, code = MACHINES[machine]
        chip = load_machine(machine).scaled(sms)
        result = simulate(program_named(program, code), design, chip, size="tiny", observers=["hot-spots"])
        _RESULTS[program, design, machine] = result
    return _RESULTS[program, design, machine]


def test_every_counter_is_a_column_or_of_no_instruction() -> None:
    assert {*COUNTERS_OF.values()} | OF_NO_INSTRUCTION == set(COUNTERS)
    assert not {*COUNTERS_OF.values()} & OF_NO_INSTRUCTION


def check_sums(result: Result) -> None:
    """Whatever the run counted is the sum of the rows."""
    kernels = profile(result)
    counters = result.counters
    totals = [kernel.total() for kernel in kernels]

    def summed(column: str) -> int:
        return sum(total[column] for total in totals)

    assert {column: summed(column) for column in COUNTERS_OF} == {column: counters[name] for column, name in COUNTERS_OF.items()}
    assert summed("threads") == sum(n * lanes for n, lanes in enumerate(counters["active_lanes"]))
    assert {reason: sum(t["stalls"].get(reason, 0) for t in totals) for reason in STALLS} == counters["stall_cycles"]
    for counter, columns in OF_POLICIES.items():
        assert counter not in counters or counters[counter] == sum(map(summed, columns)), counter
    if "compressed_writes" in counters:  # moves, which make room for some lanes of a register, store it as it is
        assert sum(counters["compressed_writes"].values()) == summed("encoded_writes")
        plain = counters["uncompressed_writes"] + counters["moves"]
        assert counters["mrf_writes"] == summed("encoded_writes") + plain
    assert summed("wakeup_waits") <= counters.get("wakeups", summed("wakeup_waits"))
    for kernel, total in zip(kernels, totals, strict=True):
        assert warp_cycles(total) == kernel.resident_cycles > 0
        assert 0 < total["issue_cycles"] <= total["issues"]
    spent = result.energy_pj["dynamic"] + result.energy_pj["overhead"]
    assert math.isclose(sum(total["energy_pj"] for total in totals), spent, rel_tol=1e-9)
    joules = {term.what: term.joules for term in result.energy_terms}
    of_accesses = joules[READS] + joules[WRITES] + joules.get(WIRES, 0.0)
    at_instructions = sum(row["energy_pj"] for kernel in kernels for row in kernel.rows if row["pc"] >= 0)
    assert 0 < at_instructions <= of_accesses * 1e12 * (1 + 1e-9)


@pytest.mark.parametrize("design", [CACHED, RENAMED])
@pytest.mark.parametrize("program", PROGRAMS)
def test_rows_add_up_to_the_counters(program: str, design: str) -> None:
    check_sums(watched(program, design))


@pytest.mark.parametrize("program", PROGRAMS)
def test_rows_add_up_where_control_bits_order_machine_code(program: str) -> None:
    check_sums(watched(program, "modern", "hopper"))


@pytest.mark.slow
@pytest.mark.parametrize("design", list(named_designs()))
def test_rows_add_up_under_every_design(design: str) -> None:
    for program in (*PROGRAMS, "hotspot", "lib", "backprop", "dwt2d", "spmv", "nw", "lavamd", "sgemm", "radixsort"):
        check_sums(watched(program, design))


def test_what_designs_do_is_seen_at_instructions() -> None:
    def rows(design: str) -> list[dict[str, Any]]:
        return [row for kernel in profile(watched("matrixmul", design)) for row in kernel.rows if row["pc"] >= 0]

    for column in ("upper_reads", "encoded_reads", "wakeup_wait_cycles"):
        assert any(row[column] for row in rows(CACHED)) and not any(row[column] for row in rows(RENAMED))
    assert any(row["waits"].get("allocation") for row in rows(RENAMED))


@pytest.mark.parametrize("program", PROGRAMS)
def test_sums_by_line_and_block_are_the_total(program: str) -> None:
    for kernel in profile(watched(program, CACHED)):
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
    (kernel,) = profile(watched("matrixmul", CACHED))
    loops = kernel.by_loop()
    assert loops and max(loop["issues"] for loop in loops) > kernel.total()["issues"] / 2


def test_the_same_code_is_paired_row_by_row_and_changed_code_by_alignment() -> None:
    (first,), (second,) = (profile(watched("matrixmul", design)) for design in (CACHED, RENAMED))
    pairs = paired(second.rows, second.rows)
    assert all(a is b for a, b in pairs)
    longer = [second.rows[0], {**second.rows[1], "instruction": "acquire", "line": 0}, *second.rows[1:]]
    added = paired(second.rows, longer)
    assert [b["instruction"] for a, b in added if a is None and b] == ["acquire"]
    assert sum(a is not None for a, _ in added) == len(second.rows)
    assert len(paired(first.rows, second.rows)) >= max(len(first.rows), len(second.rows))


def test_launches_of_a_kernel_are_added() -> None:
    result = watched("reduction", CACHED)
    (kernel,) = profile(result)
    assert kernel.launches == len(result.launches) > 1
    assert kernel.cycles == result.cycles
    assert isinstance(kernel, KernelProfile)
    assert json.loads(json.dumps(kernel.to_dict()))["total"]["issues"] == result.warp_instructions


def test_lines_are_of_the_cuda_source() -> None:
    lines = source_lines(workload_program("matrixmul"))
    (kernel,) = profile(watched("matrixmul", CACHED))
    named = {row["line"] for row in kernel.rows if row["instruction"].startswith("ld.global")}
    assert {lines[line - 1].strip() for line in named} == {
        "tile_a[y][x] = a[row * inner + start + x];",
        "tile_b[y][x] = b[(start + y) * width + column];",
    }
    nameless = [row for row in kernel.rows[:-1] if not row["line"]]  # hoisted by the compiler, which names no line then
    assert len(nameless) < len(kernel.rows) / 5


def test_every_order_is_a_number() -> None:
    (kernel,) = profile(watched("matrixmul", CACHED))
    for key, meaning in ORDERS.values():
        assert meaning and all(isinstance(key(row), int | float) for row in kernel.rows)
