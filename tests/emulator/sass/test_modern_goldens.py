"""Kernels that use today's CUDA, against what an H200 wrote."""

from __future__ import annotations

import numpy as np
import pytest

from support.places import GOLDENS
from warploom.compiler.sass.module import from_cuda
from warploom.programs.device import Device
from warploom_lab.goldens.modern_cases import BLOCKS, NAMES, THREADS, given, source, start

pytestmark = pytest.mark.oracle

LARGE_HEADERS = ("groups_scan", "groups_large", "pipelined", "barriers", "language")  # that take the compiler a second each
CASES = [pytest.param(name, marks=[pytest.mark.slow] if name in LARGE_HEADERS else []) for name in NAMES]
FILE = GOLDENS / "modern.npz"


@pytest.fixture(scope="module")
def goldens() -> dict[str, np.ndarray]:
    with np.load(FILE) as stored:
        return dict(stored)


@pytest.mark.parametrize("name", CASES)
def test_like_hardware(name: str, goldens: dict[str, np.ndarray]) -> None:
    module = from_cuda(source(name), f"{name}.cu", "sm_90", ("--std=c++17",))
    device = Device(lambda kernel, _shape: module.kernel(kernel), record=None)
    words, out = device.array(given()), device.array(start())
    device.launch(name, (BLOCKS,), (THREADS,), words, out)
    got, wanted = out.get(), goldens[name]
    different = np.flatnonzero(got != wanted)
    assert not len(different), (len(different), different[:4] // (BLOCKS * THREADS), got[different[:4]], wanted[different[:4]])
