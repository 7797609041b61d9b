"""Barriers of the CTA: what they reduce, and lanes that come to them apart."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.compiler.cuda.nvrtc import compile_to_ptx
from warploom.compiler.sass.module import from_cuda
from warploom.programs.device import Device

ARCHITECTURES = ["ptx", "sm_75", "sm_80", "sm_90"]
SOURCE = r"""
extern "C" __global__ void reductions(unsigned* out, const unsigned* in) {
    const unsigned t = threadIdx.x, x = in[t];
    out[t] = __syncthreads_or(x == 5);
    out[64 + t] = __syncthreads_or(x != 5);
    out[128 + t] = __syncthreads_or(x > 63);
    out[192 + t] = __syncthreads_and(x != 5);
    out[256 + t] = __syncthreads_and(x < 64);
    out[320 + t] = __syncthreads_count(x != 5);
    out[384 + t] = __syncthreads_count(!(x & 3));
}
extern "C" __global__ void some_lanes(unsigned* out, const unsigned* in) {
    __shared__ unsigned s[32];
    const unsigned t = threadIdx.x;
    s[t] = in[t] + 1;
    if (t < 16) __syncthreads();
    unsigned v = t;
    for (unsigned i = 0; i < in[5]; i++) {
        v = v * v + 3 + s[(t + i) & 15];
        v ^= v << 5;
    }
    out[t] = v;
}
extern "C" __global__ void apart(unsigned* out, const unsigned* in) {
    const unsigned t = threadIdx.x, x = in[t];
    unsigned n;
    if (t & 1) {
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 5; barrier.red.popc.u32 %0, 0, p; }" : "=r"(n) : "r"(x) : "memory");
        n += 100;
    } else {
        asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 8; barrier.red.popc.u32 %0, 0, p; }" : "=r"(n) : "r"(x) : "memory");
    }
    out[t] = n;
}
"""
H200 = """
7c683548 f6e74a0a 51413dae 94d38ba4 5cde629c 09145c76 002c4032 ca4e4960
3958e610 e31844c2 78a879d6 b9ae28fc 98309a94 8f749a3e a9361e4a a799acc8
fd923548 7aec420a 94e72dae a8678ba4 dd4d629c 52f3e476 c89fb032 5ef1a960
e848e610 c53f0cc2 b78869d6 21f928fc 28bc9a94 22f1f23e d32dce4a 9f94ccc8
"""


def _launch(name: str, architecture: str, threads: int, words: int) -> np.ndarray:
    """What a kernel writes whose threads read their own numbers."""
    if architecture == "ptx":
        device = Device(compile_to_ptx(SOURCE, "barriers.cu"), record=None)
    else:
        module = from_cuda(SOURCE, "barriers.cu", architecture)
        device = Device(lambda kernel, _shape: module.kernel(kernel), record=None)
    out = device.array(np.zeros(words, np.uint32))
    device.launch(name, (1,), (threads,), out, device.array(np.arange(threads, dtype=np.uint32)))
    return out.get()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_predicate_may_be_negated(architecture: str) -> None:
    """ptxas compares the other way round and negates the predicate where that suits it."""
    answers = _launch("reductions", architecture, 64, 7 * 64).reshape(7, 64)
    assert (answers != 0).tolist() == [[yes] * 64 for yes in (True, True, False, False, True, True, True)]
    assert set(answers[5]) == {63} and set(answers[6]) == {16}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_lanes_that_do_not_take_part_wait_with_their_group(architecture: str) -> None:
    """Values of an H200 (sm_90): behind the barrier its warp is still together, and uniform registers are everybody's."""
    assert _launch("some_lanes", architecture, 32, 32).tolist() == [int(word, 16) for word in H200.split()]


@pytest.mark.parametrize("architecture", ARCHITECTURES[1:])
def test_groups_that_come_apart_count_together(architecture: str) -> None:
    """Odd lanes of 64 threads count those that are not 5, even lanes those below 8: 31 and 4."""
    odd = np.arange(64) & 1
    assert _launch("apart", architecture, 64, 64).tolist() == (35 + 100 * odd).tolist()
