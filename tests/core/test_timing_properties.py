"""Whatever the kernel: accesses equal the trace's, states add up, skipping and checking change nothing, processes agree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from timing_kernels import Access, Kernel, add, barrier, exit_, fma, load, op, setp, store

from warploom.code.table import static_table
from warploom.core.simulate import TimingResult, time_launches
from warploom.machines import load_machine
from warploom.register_file import Policies, baseline_policies, make_policy

REGISTERS = 12
DESIGNS = {
    "baseline": baseline_policies(),
    "mixed": baseline_policies()._replace(
        scheduler=make_policy("scheduler", "two-level", active=4, inner="round-robin"),
        allocation=make_policy("allocation", "oracle"),
        power=make_policy("power", "bank-gating", wakeup=7),
    ),
}


def random_kernel(seed: int) -> Kernel:
    """A few blocks in a loop, random registers, masks, accesses and numbers of turns; all warps meet at the barriers."""
    draw = np.random.default_rng(seed)

    def register() -> int:
        return int(draw.integers(REGISTERS))

    def instruction():
        kind = draw.integers(8)
        if kind == 0:
            return load(register(), register(), str(draw.choice(["global", "shared", "local", "const"])))
        if kind == 1:
            return store(register(), register(), str(draw.choice(["global", "shared"])))
        if kind == 2:
            return setp(int(draw.integers(3)), register(), register())
        if kind == 3:
            return op(str(draw.choice(["sin", "div", "min"])), register(), register())
        return [add(register(), register(), register()), fma(register(), register(), register(), register())][draw.integers(2)]

    first = [op("mov", n) for n in range(REGISTERS)]
    body = [instruction() for _ in range(draw.integers(3, 20))]
    last = [instruction() for _ in range(draw.integers(1, 6))]
    warps = int(draw.integers(1, 9))
    turns = draw.integers(1, 5, size=64)
    with_barrier = bool(draw.integers(2))
    masks = draw.choice([0xFFFFFFFF, 0xFFFFFFFF, 0x0000FFFF, 0x1, 0], size=257)
    widths = draw.integers(1, 9, size=257)
    start, end = len(first), len(first) + len(body)
    tail = end + len(last) + with_barrier + 1

    def path(warp: int) -> list[int]:
        return [*range(start), *(list(range(start, end)) * int(turns[warp % 64])), *range(end, tail)]

    def access(warp: int, pc: int, n: int) -> Access:
        width = int(widths[(warp * 31 + n) % 257])
        base = (warp * 977 + n * 131) % 5000
        return Access(sorted({base + 5 * step for step in range(width)}), passes=width)

    blocks = [first, body, [*last, *([barrier()] if with_barrier else []), exit_()]]
    ctas = int(draw.integers(1, 20))
    return Kernel(
        blocks, REGISTERS, warps_per_cta=warps, ctas=ctas, path=path, access=access,
        mask=lambda warp, pc, n: int(masks[(warp * 7 + n) % 257]) if pc >= start else 0xFFFFFFFF,
    )  # fmt: skip


def run(seed: int, design: Policies, machine: str = "gtx480", **options) -> TimingResult:
    return time_launches([random_kernel(seed).launch()], design, load_machine(machine).scaled(2), **options)


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("seed", range(12))
def test_random_kernels(name, seed):
    code, trace = random_kernel(seed).launch()
    table = static_table(code)
    machine = ["gtx480", "rfv", "compression"][seed % 3]
    checked = run(seed, DESIGNS[name], machine, check=True)
    counters = checked.counters
    assert counters["warp_instructions"] == trace.warp_instructions
    assert counters["rf_reads"] == counters["mrf_reads"] == int(table["n_reads"][trace.pc].sum())
    assert counters["rf_writes"] == counters["mrf_writes"] == int(table["n_writes"][trace.pc].sum())
    assert counters["on_cycles"] + counters["drowsy_cycles"] + counters["off_cycles"] == counters["entry_cycles"]
    scheduler_cycles = sum(counters["stall_cycles"].values()) + counters["issued"]
    assert 4 * checked.cycles <= scheduler_cycles < 4 * (checked.cycles + load_machine(machine).chip.quantum)
    lanes = np.bincount([int(mask).bit_count() for mask in trace.mask], minlength=33)
    assert counters["active_lanes"] == lanes.tolist()
    assert 0 < counters["live_fraction_of_file"] <= counters["allocated_fraction"] <= 1
    naive = run(seed, DESIGNS[name], machine, check=True, naive=True)
    assert (naive.counters, naive.cycles) == (counters, checked.cycles)


def test_the_oracle_holds_just_what_is_live():
    """Perfect allocation gives a register an entry exactly while its value is live, or being read or written."""
    result = run(3, DESIGNS["mixed"], check=True).counters
    static = run(3, DESIGNS["baseline"], check=True).counters
    assert result["live_fraction"] > 0.95 > 0.7 > static["live_fraction"]
    assert result["allocated_peak"] < static["allocated_peak"]


SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_timing_properties import DESIGNS, run
print(json.dumps([run(seed, DESIGNS["baseline"], check=True).counters for seed in (1, 2)], sort_keys=True))
"""


def test_two_processes_agree():
    here = [json.loads(json.dumps(run(seed, DESIGNS["baseline"], check=True).counters)) for seed in (1, 2)]
    there = subprocess.run([sys.executable, "-c", SCRIPT, str(Path(__file__).parent)], capture_output=True, text=True, check=True)
    assert json.loads(there.stdout) == here
