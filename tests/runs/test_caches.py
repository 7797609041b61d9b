"""Runs with warm caches: what the host has copied is in L2, launches find what others left, and results say so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import warploom as wl
from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.programs.program import Program
from warploom.programs.workloads.workload import Arrays, Gpu
from warploom.runs.caches import check_caches
from warploom.runs.keys import keys_of
from warploom.runs.simulate import simulate
from warploom.studies.sweep.expansion import expand
from warploom.studies.sweep.plan import plan_from_dict

SOURCE = """
__constant__ int step = 5;
extern "C" __global__ void nothing() {}
extern "C" __global__ void add(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] += step; }
"""


def _host(gpu: Gpu, arrays: Arrays) -> Arrays:
    out = gpu.array(arrays["out"])
    for _ in range(2):
        gpu.launch("add", (4,), (256,), out)
    return {"out": out.get()}


def _program(host: Callable[[Gpu, Arrays], Arrays], code: str = "ptx") -> Program:
    return wl.program("made", SOURCE, host, {"out": np.arange(1024, dtype=np.int32)}, code=code)


def test_what_the_host_has_copied_is_not_read_from_dram() -> None:
    """L1 fetches whole lines, so the half of the last one that is behind each input comes from DRAM."""
    cold, warm = (simulate("vectoradd", size="tiny", caches=caches) for caches in ("cold", "warm"))
    assert cold.counters["dram_reads"] > 2 * 30_000 * 4 // 32
    assert warm.counters["dram_reads"] == warm.counters["l2_misses"] == 4 and warm.counters["l2_write_misses"] == 0
    assert warm.cycles < cold.cycles and warm.warp_instructions == cold.warp_instructions
    assert warm.provenance is not None and cold.provenance is not None and warm.provenance.key != cold.provenance.key


def test_chosen_launches_are_timed_as_they_follow_each_other() -> None:
    program = _program(_host, "sm_90")
    chosen = (("add", 0), ("add", 1))
    cold, warm = (simulate(program, "modern", "hopper", launches=chosen, caches=caches) for caches in ("cold", "warm"))
    for (_, number), before, after in zip(chosen, cold.launches, warm.launches, strict=True):
        assert (before.launch, after.launch) == (number, number)
        assert before.memory and before.memory["dram_reads"] > 0 and after.memory and after.memory["dram_reads"] == 0
        assert after.cycles < before.cycles
    first, second = (launch.memory or {} for launch in warm.launches)
    assert first["l1_sectors"] == second["l1_sectors"] == 128  # each finds L1 empty, and counts only its own
    assert warm.launches[1].cycles < warm.launches[0].cycles  # the code is in the SMs
    (last,) = simulate(program, "modern", "hopper", launches=chosen[1:], caches="warm").launches
    assert last == warm.launches[1]  # also where nobody asks for the first


def test_a_launch_that_touches_nothing_takes_as_long() -> None:
    """Code comes from L2 with cold caches, too."""

    def host(gpu: Gpu, arrays: Arrays) -> Arrays:
        gpu.array(arrays["out"])
        gpu.launch("nothing", (132,), (64,))
        return {}

    cold, warm = (simulate(_program(host, "sm_90"), "modern", "hopper", caches=caches) for caches in ("cold", "warm"))
    assert cold.cycles == warm.cycles and cold.counters["dram_reads"] == warm.counters["dram_reads"]


def test_a_launch_knows_what_the_host_wrote_before_it() -> None:
    device = wl.Device(SOURCE, record=None)
    out = device.array(np.zeros(1024, np.int32))
    device.launch("add", (4,), (256,), out)
    device.launch("add", (4,), (256,), out)
    out.set(np.ones(1024, np.int32))
    step = device.symbol("step", np.int32)
    step.set([7])
    device.launch("add", (4,), (256,), out)
    array, variable = (out.address, 4096, False), (step.address, 4, True)
    copied = [launch.copied for launch in device.launches]
    assert copied == [(array, variable), (), (array, (step.address, 4, False))]


def test_a_result_is_made_again_with_its_caches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "vectoradd", "--size", "tiny", "--caches", "warm"]) == 0
    assert "caches warm" in capsys.readouterr().out
    assert run_command(["run", "vectoradd", "--size", "tiny", "--caches", "warm", "--json"]) == 0
    kept = tmp_path / "result.json"
    kept.write_text(capsys.readouterr().out)
    assert json.loads(kept.read_text())["provenance"]["spec"]["caches"] == "warm"
    assert run_command(["run", "--from", str(kept)]) == 0, capsys.readouterr().err


def test_plans_have_an_axis_for_it_and_runs_are_stored_apart() -> None:
    found = expand(plan_from_dict({"workloads": "vectoradd", "sizes": "tiny", "caches": ["cold", "warm"]}))
    assert [point.coordinates["caches"] for point in found.points] == ["cold", "warm"]
    assert len(set(keys_of(found.specs))) == 2
    (usual,) = expand(plan_from_dict({"workloads": "vectoradd", "sizes": "tiny"})).points
    assert "caches" not in usual.coordinates and keys_of([usual.spec]) == keys_of(found.specs[:1])
    with pytest.raises(WarploomError, match="plan: caches cannot be 'hot'; choose cold or warm"):
        expand(plan_from_dict({"workloads": "vectoradd", "caches": "hot"}))


def test_another_word_is_refused() -> None:
    with pytest.raises(WarploomError, match="caches cannot be 'hot'; choose cold or warm"):
        check_caches("hot")
