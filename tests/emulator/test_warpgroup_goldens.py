"""Products of warpgroups against the answers of an H200."""

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
from warpgroup_cases import IMAGE_BYTES, THREADS, WarpgroupCase, warpgroup_cases  # noqa: E402

PRODUCTS = warpgroup_cases()


@pytest.fixture(scope="module")
def products() -> SassModule:
    return from_cuda("".join({case.kernel: case.source for case in PRODUCTS}.values()), "warpgroups.cu", "sm_90a")


def _multiply(case: WarpgroupCase, module: SassModule) -> np.ndarray:
    device = Device(lambda name, _shape: module.kernel(name), record=None)
    image, registers, accumulators = map(device.array, case.inputs())
    out = device.array(np.zeros(accumulators.shape, np.uint32))
    described = (np.uint64(case.a.bits if case.a is not None else 0), np.uint64(case.b.bits), np.int32(case.adds))
    shape = ((case.blocks,), (THREADS,))
    device.launch(case.kernel, *shape, image, registers, accumulators, out, *described, shared_bytes=IMAGE_BYTES + 1024)
    return out.get()


def test_products_are_like_hardware(products: SassModule) -> None:
    with np.load(ROOT / "tests" / "goldens" / "warpgroups.npz") as stored:
        goldens = dict(stored)
    different = {}
    for case in PRODUCTS:
        wanted = goldens[case.name]
        count = np.count_nonzero(_multiply(case, products) != wanted)
        if count:
            different[case.name] = f"{count} of {wanted.size}"
    assert not different


def test_products_of_warpgroups_are_not_timed(products: SassModule) -> None:
    device = Device(lambda name, _shape: products.kernel(name))
    case = PRODUCTS[0]
    words = [device.array(words) for words in case.inputs()]
    with pytest.raises(WarploomError, match=r"HGMMA.*cannot be timed.*registers and shared memory.*--emulate-only"):
        device.launch(
            case.kernel, (1,), (THREADS,), *words, words[2], np.uint64(0), np.uint64(0), np.int32(1), shared_bytes=34816
        )
