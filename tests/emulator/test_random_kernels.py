"""Random structured kernels: the emulator and a plain per-thread interpreter agree, however the code is compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.random_programs import INPUTS, Maker, Writer, run_plainly
from warploom.compiler.backend import Options
from warploom.emulator.trace.store import TraceStore
from warploom.programs.device import Device

BLOCKS, BLOCK = 2, 72  # the last warp of a block is a quarter full
COMPILATIONS = {
    "as usual": Options(),
    "unscheduled": Options(schedule=False),
    "wide": Options(narrow=False),
    "wide, unscheduled": Options(narrow=False, schedule=False),
    "tight": Options(max_registers=16),
    "literal": Options(literal=True),
}


def run(ptx: str, inputs: np.ndarray, options: Options, **keywords: Any) -> tuple[np.ndarray, Device]:
    device = Device(ptx, options, budget=2_000_000, **keywords)
    output = device.array(np.zeros((BLOCKS * BLOCK, 64), np.uint8))
    device.launch("k", (BLOCKS,), (BLOCK,), device.array(inputs), output)
    return output.get(), device


@pytest.mark.parametrize("seed", range(24))
def test_like_a_plain_interpreter(seed: int) -> None:
    program = Maker(seed).program()
    inputs = np.random.default_rng(seed).integers(0, 2**32, INPUTS).astype(np.uint32)
    expected = np.frombuffer(run_plainly(program, inputs, BLOCKS, BLOCK), np.uint8).reshape(-1, 64)
    ptx = Writer(program, BLOCK).text()
    for name, options in COMPILATIONS.items():
        got, _ = run(ptx, inputs, options, record=None)
        wrong = np.flatnonzero((got != expected).any(axis=1))
        assert not len(wrong), f"seed {seed}, {name}: threads {wrong[:8]} differ"


@pytest.mark.parametrize("seed", range(100, 106))
def test_recording_changes_nothing(seed: int, tmp_path: Path) -> None:
    """A traced and checked run gives the same output; its masks add up to what was executed."""
    ptx = Writer(Maker(seed).program(), BLOCK).text()
    inputs = np.random.default_rng(seed).integers(0, 2**32, INPUTS).astype(np.uint32)
    plain, device = run(ptx, inputs, Options(), record=None)
    traced, recording = run(ptx, inputs, Options(), record=TraceStore(tmp_path), check=True)
    assert (plain == traced).all()
    first, second = device.launches[0], recording.launches[0]
    assert first.stats == second.stats
    trace = second.trace
    assert trace is not None and trace.warp_instructions == second.stats.warp_instructions
    assert int(np.bitwise_count(trace.mask).sum()) == second.stats.thread_instructions
