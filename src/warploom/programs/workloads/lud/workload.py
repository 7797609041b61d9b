"""LU decomposition in 16 x 16 blocks."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 11
BLOCK = 16
SIZES = Sizes(tiny=64, small=192, paper=256)  # 256 makes the paper's 15 CTAs of the first perimeter
TOLERANCE = {"factors": (1e-4, 1e-4)}


def inputs(size: Size, seed: int = SEED) -> Arrays:
    n = SIZES[size]
    random = np.random.default_rng(seed)
    # A dominant diagonal keeps the decomposition without pivoting stable.
    return {"matrix": (random.uniform(-1, 1, (n, n)) + n * np.eye(n) / 4).astype(np.float32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    n = len(arrays["matrix"])
    matrix = gpu.array(arrays["matrix"])
    for offset in range(0, n, BLOCK):
        rest = (n - offset) // BLOCK - 1
        arguments = (matrix, np.int32(n), np.int32(offset))
        gpu.launch("diagonal", (1,), (BLOCK,), *arguments)
        if rest:
            gpu.launch("perimeter", (rest,), (2 * BLOCK,), *arguments)
            gpu.launch("internal", (rest, rest), (BLOCK, BLOCK), *arguments)
    return {"factors": matrix.get()}


def reference(arrays: Arrays) -> Arrays:
    factors = arrays["matrix"].astype(np.float64)
    for k in range(len(factors) - 1):
        factors[k + 1 :, k] /= factors[k, k]
        factors[k + 1 :, k + 1 :] -= np.outer(factors[k + 1 :, k], factors[k, k + 1 :])
    return {"factors": factors.astype(np.float32)}
