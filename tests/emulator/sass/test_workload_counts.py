"""Twelve workloads on an H200: for every instruction of their code the same counts of warps and threads, over all launches."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.places import DATA
from warploom.compiler.sass.module import from_cubin
from warploom.programs.device import Device
from warploom.programs.workloads.registry import load_workload

pytestmark = pytest.mark.oracle

DATA = DATA / "h200"
MEASURED = json.loads((DATA / "workloads.json").read_text())["workloads"]
# Nsight Compute counts single instructions with code of its own in front of each. Groups that come to a BSYNC there one after the
# other are then one, so it sees fewer arrivals of as many threads; the counters of the hardware see all of them.
JOINED = {("bfs", "expand", 0x410 // 16)}


@pytest.mark.parametrize("name", sorted(MEASURED))
def test_counts_of_every_instruction(name: str) -> None:
    module = from_cubin((DATA / "workloads" / f"{name}.cubin").read_bytes(), f"{name}.cubin")
    device = Device(lambda kernel, _shape: module.kernel(kernel), record=None, count=True)
    workload = load_workload(name)
    workload.host(device, workload.inputs("tiny"))
    for kernel, measured in MEASURED[name].items():
        launches = [launch for launch in device.launches if launch.code.name == kernel]
        assert len(launches) == measured["launches"]
        ours = np.sum([launch.counts for launch in launches if launch.counts is not None], axis=0)
        theirs = np.array(measured["counts"])[: len(ours)]  # then comes what is never executed
        assert not np.array(measured["counts"])[len(ours) :].any()
        for *joined, pc in JOINED:
            if joined == [name, kernel]:
                assert theirs[pc, 0] <= ours[pc, 0] <= 1.01 * theirs[pc, 0]
                theirs[pc, 0] = ours[pc, 0]
        different = [(f"{16 * pc:#x}", list(ours[pc]), list(theirs[pc])) for pc in np.flatnonzero((ours != theirs).any(axis=1))]
        assert not different
