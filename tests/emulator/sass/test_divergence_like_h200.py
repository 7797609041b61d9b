"""Kernels whose lanes go many ways: an H200's counters of executed instructions, which show how groups take turns."""

from __future__ import annotations

import csv
from itertools import groupby

import numpy as np
import pytest

from support.places import DATA
from warploom.compiler.sass.module import from_cubin
from warploom.programs.device import Device

pytestmark = pytest.mark.oracle

DATA = DATA / "h200"
ENTRIES = 512  # that a lane may write down
with (DATA / "divergence.tsv").open() as file:
    MEASURED = {name: list(rows) for name, rows in groupby(csv.DictReader(file, delimiter="\t"), lambda row: row["kernel"])}


@pytest.mark.parametrize("name", MEASURED)
def test_instructions_executed(name: str) -> None:
    code = from_cubin((DATA / "divergence.cubin").read_bytes(), "divergence.cubin").kernel(name)
    data = np.random.default_rng(7).integers(0, 1 << 32, 4096, np.uint32)
    for row in MEASURED[name]:
        grid, block = int(row["grid"]), int(row["block"])
        device = Device(lambda _kernel, _shape: code, record=None, count=True)
        log = device.array(np.zeros(grid * block * ENTRIES, np.uint32))
        numbers = [np.uint32(row[key]) for key in ("p0", "p1", "p2", "p3")]
        device.launch(name, (grid,), (block,), log, *numbers, device.array(data))
        (launch,) = device.launches
        assert launch.counts is not None and launch.repeats is not None
        executed = launch.counts[:, :2].sum(axis=0) + launch.repeats.sum(axis=0)
        assert list(executed) == [int(row["warp_instructions"]), int(row["thread_instructions"])], row
        assert [launch.stats.warp_instructions, launch.stats.issued_thread_instructions] == list(executed)
