"""Images, products of f64, barriers in shared memory, elected lanes and printf, against the answers of a real GPU."""

from __future__ import annotations

import io

import numpy as np
import pytest

from support.places import GOLDENS
from warploom.base.printed import printed_to
from warploom.compiler.sass.module import SassModule, from_cuda
from warploom.emulator.device_memory import DeviceArray
from warploom.programs.device import Device
from warploom_lab.goldens.feature_cases import SOURCE, Case, Image, cases

pytestmark = pytest.mark.oracle

FILE = GOLDENS / "features.npz"
BEYOND_CUDA = (4, 5)  # lines with ``hh`` and a precision of ``*``, which CUDA does not have and the GPU prints nonsense for
CASES = {case.name: case for case in cases()}


@pytest.fixture(scope="module")
def module() -> SassModule:
    return from_cuda(SOURCE, "features.cu", "sm_90")


@pytest.fixture(scope="module")
def goldens() -> dict[str, np.ndarray]:
    if not FILE.exists():
        pytest.skip("`warploom-lab feature-goldens` has not been run on a GPU")
    with np.load(FILE) as stored:
        return dict(stored)


def _run(case: Case, module: SassModule) -> tuple[list[np.ndarray], str]:
    device = Device(lambda name, _shape: module.kernel(name), record=None)
    given: list[object] = []
    after: list[DeviceArray] = []
    for argument in case.arguments:
        if isinstance(argument, Image) and not argument.surface:
            edges = {"wrap": argument.address == "wrap", "border": argument.address == "border"}
            how = {"linear": argument.linear, "normalized": argument.normalized, "layered": argument.layered}
            given.append(device.texture(argument.values, **edges, **how))
        elif isinstance(argument, Image | np.ndarray):
            array = device.array(argument.values if isinstance(argument, Image) else argument)
            after.append(array)
            given.append(device.surface(array) if isinstance(argument, Image) else array)
        else:
            given.append(argument)
    printed = io.StringIO()
    with printed_to(printed):
        device.launch(case.kernel, (case.grid,), (case.block,), *given)
    return [array.get() for array in after], printed.getvalue()


@pytest.mark.parametrize("name", CASES)
def test_like_hardware(name: str, module: SassModule, goldens: dict[str, np.ndarray]) -> None:
    got, text = _run(CASES[name], module)
    assert f"{name}/0" in goldens
    for number, array in enumerate(got):
        wanted: np.ndarray = goldens[f"{name}/{number}"].reshape(array.shape)
        if name == "barrier":  # hardware shows the barrier's state to nobody, and of what an arrival tells only the upper word
            array, wanted = (states.reshape(-1, 2)[:, 1] >> np.uint64(32) for states in (array, wanted))
        elif name == "speak" and number == 0:
            array, wanted = np.delete(array, BEYOND_CUDA), np.delete(wanted, BEYOND_CUDA)
        if "linear" in name:  # hardware's own sums of weighted texels differ from exact ones in the last place
            assert np.abs(array.view(np.int32) - wanted.view(np.int32)).max() <= 1
            continue
        different = np.flatnonzero(array.reshape(-1).view(np.uint8) != wanted.reshape(-1).view(np.uint8))
        assert not len(different), (len(different), array.reshape(-1)[different[0] // array.itemsize])
    if CASES[name].prints:
        printed, wanted_text = text.encode().split(b"\n"), goldens[f"{name}/text"].tobytes().split(b"\n")
        assert len(printed) == len(wanted_text)
        assert [line for at, line in enumerate(printed) if at not in BEYOND_CUDA] == [
            line for at, line in enumerate(wanted_text) if at not in BEYOND_CUDA
        ]
