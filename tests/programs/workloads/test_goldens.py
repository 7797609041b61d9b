"""The emulator computes, for every workload's tiny size, what the reference says and what a real GPU computed."""

import functools
import hashlib
import json

import numpy as np
import pytest

from support.places import GOLDENS
from warploom.programs.device import Device
from warploom.programs.program import compare_outputs
from warploom.programs.workloads.registry import load_workload, workload_names, workload_ptx
from warploom.programs.workloads.workload import Arrays
from warploom_lab.goldens.ptx_lines import without_lines

pytestmark = pytest.mark.oracle

NOTE = json.loads((GOLDENS / "workloads.json").read_text())
ARCHIVE = np.load(GOLDENS / "workloads.npz", allow_pickle=False)
SAMPLES = 2048  # of an output that is too large to be stored whole, as in the script that makes the goldens


@functools.cache
def outputs(name: str) -> Arrays:
    """What the emulator makes of the tiny size."""
    workload = load_workload(name)
    device = Device(workload_ptx(name), file=f"{name}/kernel.ptx", record=None)
    return {output: np.asarray(values) for output, values in workload.host(device, workload.inputs("tiny")).items()}


@pytest.mark.parametrize("name", workload_names())
def test_tiny_agrees_with_the_reference(name: str) -> None:
    workload = load_workload(name)
    problem = compare_outputs(outputs(name), workload.reference(workload.inputs("tiny")), workload.tolerance, name)
    assert problem is None, problem


@pytest.mark.parametrize("name", workload_names())
def test_tiny_agrees_with_a_real_gpu(name: str) -> None:
    tolerance = load_workload(name).tolerance
    for output, values in outputs(name).items():
        key = f"{name}/{output}"
        if key in ARCHIVE:
            problem = compare_outputs({output: values}, {output: ARCHIVE[key]}, tolerance, name)
        else:
            sample = values.reshape(-1)[:: -(-values.size // SAMPLES)]
            problem = compare_outputs({output: sample}, {output: ARCHIVE[f"{key}/sample"]}, tolerance, name)
            if output not in tolerance:
                digest = np.frombuffer(hashlib.sha256(np.ascontiguousarray(values).tobytes()).digest(), np.uint8)
                assert np.array_equal(digest, ARCHIVE[f"{key}/sha256"]), f"{key} differs from what the GPU computed"
        assert problem is None, problem


def test_goldens_are_of_the_current_kernels() -> None:
    current = {name: hashlib.sha256(without_lines(workload_ptx(name)).encode()).hexdigest() for name in workload_names()}
    stale = [name for name, digest in current.items() if NOTE["ptx_sha256"].get(name) != digest]
    assert not stale, f"run `warploom-lab workload-goldens` on a GPU again: {', '.join(stale)}"


def test_the_real_gpu_agreed_with_every_reference() -> None:
    apart = {name: verdict for name, verdict in NOTE["verdicts"].items() if verdict != "agrees"}
    assert not apart
