"""Products of warpgroups against the answers of an H200."""

from __future__ import annotations

import numpy as np
import pytest

from support.places import GOLDENS
from warploom.compiler.sass.module import SassModule, from_cuda
from warploom.programs.device import Device
from warploom_lab.goldens.warpgroup_cases import IMAGE_BYTES, THREADS, WarpgroupCase, warpgroup_cases

pytestmark = pytest.mark.oracle

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
    with np.load(GOLDENS / "warpgroups.npz") as stored:
        goldens = dict(stored)
    different = {}
    for case in PRODUCTS:
        wanted = goldens[case.name]
        count = np.count_nonzero(_multiply(case, products) != wanted)
        if count:
            different[case.name] = f"{count} of {wanted.size}"
    assert not different


def test_a_product_that_only_ends_a_group() -> None:
    """Compilers end an empty group by a product without a result, and leave out the predicate of an addend that always counts."""
    source = """extern "C" __global__ void groups(float* out, unsigned long long at) {
    float d[4] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(at) : "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(at) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    out[threadIdx.x] = d[0] + 1;
}"""
    module = from_cuda(source, "groups.cu", "sm_90a")
    texts = [str(one) for one in module.kernel("groups").instructions() if one.op.name == "HGMMA"]
    assert any("RZ" in text for text in texts) and any("UPT" in text for text in texts)
    device = Device(lambda name, _shape: module.kernel(name), record=None)
    out = device.array(np.zeros(THREADS, np.float32))
    device.launch("groups", (1,), (THREADS,), out, np.uint64(0), shared_bytes=4096)
    assert (out.get() == 1).all()
