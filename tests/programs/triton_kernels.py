"""Kernels in Triton's language, launched without PyTorch; each part is compared with NumPy.

`python triton_kernels.py PART` prints the largest difference relative to the largest value, and fails above what the part allows.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

import numpy as np
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

cuda = ctypes.CDLL("libcuda.so.1")


class Array:
    """An array on the device: as much of a tensor as Triton's launcher asks for."""

    def __init__(self, host: np.ndarray) -> None:
        self.host, self.dtype, self.shape = host, host.dtype, host.shape
        self.place = ctypes.c_uint64()
        _check(cuda.cuMemAlloc_v2(ctypes.byref(self.place), ctypes.c_size_t(host.nbytes)))
        _check(cuda.cuMemcpyHtoD_v2(self.place, ctypes.c_void_p(host.ctypes.data), ctypes.c_size_t(host.nbytes)))

    def data_ptr(self) -> int:
        """Where it lies."""
        return self.place.value

    def stride(self) -> tuple[int, ...]:
        """Elements between neighbours."""
        return tuple(each // self.dtype.itemsize for each in self.host.strides)

    def get(self) -> np.ndarray:
        """A copy of it."""
        out = np.empty_like(self.host)
        _check(cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(out.ctypes.data), self.place, ctypes.c_size_t(out.nbytes)))
        return out


def _check(status: int) -> None:
    assert status == 0, f"CUDA error {status}"


def _begin() -> None:
    context = ctypes.c_void_p()
    _check(cuda.cuInit(0))
    _check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    _check(cuda.cuCtxSetCurrent(context))


@triton.jit
def _add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def _softmax(x, y, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(y + row * columns + at, powers / tl.sum(powers, 0), mask=at < columns)


@triton.jit
def _layer_norm(x, weight, bias, y, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    mask = at < columns
    values = tl.load(x + row * columns + at, mask=mask, other=0.0)
    mean = tl.sum(values, 0) / columns
    off = tl.where(mask, values - mean, 0.0)
    scaled = off / tl.sqrt(tl.sum(off * off, 0) / columns + 1e-5)
    tl.store(y + row * columns + at, scaled * tl.load(weight + at, mask=mask) + tl.load(bias + at, mask=mask), mask=mask)


@triton.jit
def _matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns, inner = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        left = tl.load(a + rows[:, None] * K + (k + inner)[None, :])
        right = tl.load(b + (k + inner)[:, None] * N + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def _described_matmul(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    c.store([row, column], total)


@triton.jit
def _describing_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    out = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(left.load([row, k]), right.load([k, column]), total)
    out.store([row, column], total)


@triton.jit
def _attention(q, k, v, out, tokens, scale, BLOCK: tl.constexpr, HEAD: tl.constexpr):
    rows, across, inner = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, BLOCK), tl.arange(0, HEAD)
    asked = tl.load(q + rows[:, None] * HEAD + inner[None, :])
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    total, mixed = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK, HEAD), tl.float32)
    for start in range(0, tokens, BLOCK):
        keys = tl.load(k + (start + across)[None, :] * HEAD + inner[:, None])
        scores = tl.dot(asked, keys) * scale
        new = tl.maximum(most, tl.max(scores, 1))
        weights, kept = tl.exp(scores - new[:, None]), tl.exp(most - new)
        values = tl.load(v + (start + across)[:, None] * HEAD + inner[None, :])
        mixed = tl.dot(weights.to(tl.float16), values, mixed * kept[:, None])
        total, most = total * kept + tl.sum(weights, 1), new
    tl.store(out + rows[:, None] * HEAD + inner[None, :], mixed / total[:, None])


Compared = tuple[np.ndarray, np.ndarray]
rng = np.random.default_rng(1)


def add() -> Compared:
    """A sum that does not fill its last block."""
    x, y = (rng.normal(size=1000).astype(np.float32) for _ in range(2))
    z = Array(np.zeros_like(x))
    _add[(4,)](Array(x), Array(y), z, len(x), BLOCK=256)
    return z.get(), x + y


def softmax() -> Compared:
    """Softmax of rows."""
    x = rng.normal(size=(4, 300)).astype(np.float32)
    y = Array(np.zeros_like(x))
    _softmax[(len(x),)](Array(x), y, x.shape[1], BLOCK=512)
    powers = np.exp(x - x.max(1, keepdims=True))
    return y.get(), powers / powers.sum(1, keepdims=True)


def layer_norm() -> Compared:
    """Layer normalisation of rows."""
    x = rng.normal(3, 2, size=(4, 300)).astype(np.float32)
    weight, bias = (rng.normal(size=300).astype(np.float32) for _ in range(2))
    y = Array(np.zeros_like(x))
    _layer_norm[(len(x),)](Array(x), Array(weight), Array(bias), y, x.shape[1], BLOCK=512)
    wide = x.astype(np.float64)
    return y.get(), (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * weight + bias


def matmul() -> Compared:
    """A product of halves, tiles through pointers."""
    a, b = rng.normal(size=(64, 64)).astype(np.float16), rng.normal(size=(64, 32)).astype(np.float16)
    c = Array(np.zeros((64, 32), np.float32))
    _matmul[(1, 1)](Array(a), Array(b), c, 32, 64, BM=64, BN=32, BK=32)
    return c.get(), a.astype(np.float32) @ b.astype(np.float32)


def described_matmul() -> Compared:
    """The same through tensor maps, which the launcher makes."""
    a, b = rng.normal(size=(64, 64)).astype(np.float16), rng.normal(size=(64, 32)).astype(np.float16)
    c = Array(np.zeros((64, 32), np.float32))
    tiles = [TensorDescriptor.from_tensor(Array(a), [64, 32]), TensorDescriptor.from_tensor(Array(b), [32, 32])]
    _described_matmul[(1, 1)](*tiles, TensorDescriptor.from_tensor(c, [64, 32]), 64, BM=64, BN=32, BK=32)
    return c.get(), a.astype(np.float32) @ b.astype(np.float32)


def describing_matmul() -> Compared:
    """The same through tensor maps that the kernel makes for itself."""
    a, b = rng.normal(size=(64, 64)).astype(np.float16), rng.normal(size=(64, 32)).astype(np.float16)
    c = Array(np.zeros((64, 32), np.float32))
    triton.set_allocator(lambda size, _alignment, _stream: Array(np.zeros(size, np.uint8)))
    _describing_matmul[(1, 1)](Array(a), Array(b), c, 64, 32, 64, BM=64, BN=32, BK=32)
    return c.get(), a.astype(np.float32) @ b.astype(np.float32)


def attention() -> Compared:
    """Attention of one head, in one pass over the keys."""
    q, k, v = (rng.normal(size=(64, 32)).astype(np.float16) for _ in range(3))
    out = Array(np.zeros((64, 32), np.float32))
    _attention[(1,)](Array(q), Array(k), Array(v), out, 64, 32**-0.5, BLOCK=64, HEAD=32)
    scores = q.astype(np.float64) @ k.astype(np.float64).T / 32**0.5
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return out.get(), weights / weights.sum(1, keepdims=True) @ v.astype(np.float64)


PARTS: dict[str, tuple[Callable[[], Compared], float]] = {
    "add": (add, 0.0),
    "softmax": (softmax, 1e-6),
    "layer_norm": (layer_norm, 1e-6),
    "matmul": (matmul, 1e-6),
    "described_matmul": (described_matmul, 1e-6),
    "describing_matmul": (describing_matmul, 1e-6),
    "attention": (attention, 1e-3),
}

if __name__ == "__main__":
    _begin()
    failed = False
    for name in sys.argv[1:] or PARTS:
        part, allowed = PARTS[name]
        got, expected = part()
        difference = float(np.abs(got - expected).max() / np.abs(expected).max())
        failed |= not difference <= allowed
        print(name, f"{difference:.1e}", "more than it may" if not difference <= allowed else "", flush=True)
    sys.exit(failed)
