"""Whatever the kernel: accesses equal the trace's, states add up, skipping and checking change nothing, processes agree."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from support.places import TESTS
from support.random_timed_kernels import DESIGNS, random_kernel, run
from warploom.chip.machines import load_machine
from warploom.compiler.code.table import static_table


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("seed", range(12))
def test_random_kernels(name, seed: int) -> None:
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


def test_the_oracle_holds_just_what_is_live() -> None:
    """Perfect allocation gives a register an entry exactly while its value is live, or being read or written."""
    result = run(3, DESIGNS["mixed"], check=True).counters
    static = run(3, DESIGNS["baseline"], check=True).counters
    assert result["live_fraction"] > 0.95 > 0.7 > static["live_fraction"]
    assert result["allocated_peak"] < static["allocated_peak"]


SCRIPT = """
import json
from support.random_timed_kernels import DESIGNS, run
print(json.dumps([run(seed, DESIGNS["baseline"], check=True).counters for seed in (1, 2)], sort_keys=True))
"""


def test_two_processes_agree() -> None:
    here = [json.loads(json.dumps(run(seed, DESIGNS["baseline"], check=True).counters)) for seed in (1, 2)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    there = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(there.stdout) == here
