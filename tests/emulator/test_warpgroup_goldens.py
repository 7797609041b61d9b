"""Products of warpgroups and copies of tiles of tensors, against the answers of an H200."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from warploom.errors import WarploomError
from warploom.programs.device import Device
from warploom.sass.module import SassModule, from_cuda

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from warpgroup_cases import (  # noqa: E402
    IMAGE_BYTES,
    REDUCTIONS,
    TENSOR_SOURCE,
    THREADS,
    TensorCase,
    WarpgroupCase,
    tensor_cases,
    warpgroup_cases,
)

PRODUCTS = warpgroup_cases()
TENSORS = {case.name: case for case in tensor_cases() if not case.padding}
SWIZZLES = (0, 32, 64, 128)


def _goldens(name: str) -> dict[str, np.ndarray]:
    file = ROOT / "tests" / "goldens" / name
    if not file.exists():
        pytest.skip("scripts/warpgroup_goldens.py has not been run on a GPU")
    with np.load(file) as stored:
        return dict(stored)


@pytest.fixture(scope="module")
def products() -> SassModule:
    return from_cuda("".join({case.kernel: case.source for case in PRODUCTS}.values()), "warpgroups.cu", "sm_90a")


@pytest.fixture(scope="module")
def tiles() -> SassModule:
    return from_cuda(TENSOR_SOURCE, "tensors.cu", "sm_90")


def _multiply(case: WarpgroupCase, module: SassModule) -> np.ndarray:
    device = Device(lambda name, _shape: module.kernel(name), record=None)
    image, registers, accumulators = map(device.array, case.inputs())
    out = device.array(np.zeros(accumulators.shape, np.uint32))
    described = (np.uint64(case.a.bits if case.a is not None else 0), np.uint64(case.b.bits), np.int32(case.adds))
    shape = ((case.blocks,), (THREADS,))
    device.launch(case.kernel, *shape, image, registers, accumulators, out, *described, shared_bytes=IMAGE_BYTES + 1024)
    return out.get()


def test_products_are_like_hardware(products: SassModule) -> None:
    goldens = _goldens("warpgroups.npz")
    different = {}
    for case in PRODUCTS:
        wanted = goldens[case.name]
        count = np.count_nonzero(_multiply(case, products) != wanted)
        if count:
            different[case.name] = f"{count} of {wanted.size}"
    assert not different


def _copy(case: TensorCase, module: SassModule) -> np.ndarray:
    device = Device(lambda name, _shape: module.kernel(name), record=None)
    words, tile = case.inputs()
    element = np.dtype("uint16" if case.element == "bfloat16" else case.element)
    tensor = device.array(words.view(element).reshape(case.sizes[::-1]))
    steps = case.steps[::-1] if case.steps else None
    made = device.tensor_map(tensor, case.box[::-1], swizzle=SWIZZLES[case.swizzle], steps=steps, nan=case.nan_outside)
    at = [np.int32(place) for place in (*case.at, 0, 0, 0, 0)[:5]]
    facts = (np.int32(len(case.sizes)), np.int32(case.box_bytes))
    if case.kernel == "load":
        out = device.array(np.zeros(case.box_bytes // 4, np.uint32))
        device.launch("load", (1,), (32,), made, out, *facts, *at, shared_bytes=case.box_bytes + 2048)
        return out.get()
    how = np.int32(REDUCTIONS[case.kernel])
    device.launch("store", (1,), (32,), made, device.array(tile), how, *facts, *at[:3], shared_bytes=case.box_bytes + 2048)
    return tensor.get().reshape(-1).view(np.uint32)


@pytest.mark.parametrize("name", TENSORS)
def test_tiles_are_like_hardware(name: str, tiles: SassModule) -> None:
    goldens = _goldens("tensors.npz")
    assert name in goldens
    assert np.array_equal(_copy(TENSORS[name], tiles), goldens[name])


def test_what_is_no_tensor_map_is_named(tiles: SassModule) -> None:
    device = Device(lambda name, _shape: tiles.kernel(name), record=None)
    out, zeros = device.array(np.zeros(64, np.uint32)), (np.int32(0),) * 5
    with pytest.raises(WarploomError, match="no tensor map"):
        device.launch("load", (1,), (32,), bytes(128), out, np.int32(2), np.int32(256), *zeros, shared_bytes=2048)


def test_products_of_warpgroups_are_not_timed(products: SassModule) -> None:
    device = Device(lambda name, _shape: products.kernel(name))
    case = PRODUCTS[0]
    words = [device.array(words) for words in case.inputs()]
    with pytest.raises(WarploomError, match=r"HGMMA.*cannot be timed.*registers and shared memory.*--emulate-only"):
        device.launch(
            case.kernel, (1,), (THREADS,), *words, words[2], np.uint64(0), np.uint64(0), np.int32(1), shared_bytes=34816
        )
