"""Copies from device memory to shared memory in machine code (cp.async)."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.base.errors import WarploomError
from warploom.compiler.sass.module import SassModule, from_cuda
from warploom.programs.device import Device

SOURCE = """
#define COPY(how, bytes, at) asm volatile("cp.async." how ".shared.global [%0], [%1], " bytes ";" :: "r"(to + at), "l"(in + at))
extern "C" __global__ void copy(const char* in, int* out, int wrong) {
    __shared__ __align__(16) int s[256];
    unsigned to = (unsigned)__cvta_generic_to_shared(s) + 32 * threadIdx.x + wrong;
    in += 32 * threadIdx.x;
    COPY("cg", "16", 0);
    COPY("ca", "4", 16);
    unsigned bytes = threadIdx.x & 1 ? 8 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(to + 24), "l"(in + 24), "r"(bytes));
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;");
    __syncthreads();
    for (int n = 0; n < 8; n++) out[8 * threadIdx.x + n] = s[8 * (threadIdx.x ^ 1) + n];
}
"""


def _copied(module: SassModule, wrong: int) -> np.ndarray:
    device = Device(lambda name, _threads: module.kernel(name), record=None, budget=100_000)
    out = device.array(np.zeros(256, np.int32))
    device.launch("copy", (1,), (32,), device.array(np.arange(1, 257, dtype=np.int32)), out, np.int32(wrong))
    return out.get().reshape(32, 8)


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_copies_arrive(architecture: str) -> None:
    got = _copied(from_cuda(SOURCE, "copies.cu", architecture), 0)
    wanted = np.arange(1, 257).reshape(32, 8)
    wanted[:, 5] = 0  # nobody copies it
    wanted[::2, 6:] = 0  # no bytes of these: zeros
    assert np.array_equal(got, wanted[np.arange(32) ^ 1])


@pytest.mark.parametrize("wrong", [4, 1 << 20])
def test_copies_stay_where_they_may(wrong: int) -> None:
    with pytest.raises(WarploomError, match="shared"):
        _copied(from_cuda(SOURCE, "copies.cu", "sm_90"), wrong)
