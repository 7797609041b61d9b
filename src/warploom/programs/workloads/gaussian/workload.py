"""Gaussian elimination of a linear system, one column a round."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 12
THREADS, BLOCK = 512, 16
# Order, and the columns that are eliminated: order 1024 makes the paper's 2 CTAs of 512 threads, but all of its columns would
# take hundreds of millions of instructions, every round like the one before.
SIZES = Sizes(tiny=(24, 23), small=(96, 95), paper=(1024, 4))
TOLERANCE = {"matrix": (1e-4, 1e-4), "right": (1e-4, 1e-4)}


def inputs(size: Size, seed: int = SEED) -> Arrays:
    n, columns = SIZES[size]
    random = np.random.default_rng(seed)
    return {
        "matrix": (random.uniform(-1, 1, (n, n)) + n * np.eye(n) / 4).astype(np.float32),
        "right": random.uniform(-1, 1, n).astype(np.float32),
        "columns": np.array(columns, np.int32),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    n = len(arrays["matrix"])
    matrix, right = gpu.array(arrays["matrix"]), gpu.array(arrays["right"])
    multiplier = gpu.array(np.zeros((n, n), np.float32))
    tiles = -(-n // BLOCK)
    for pivot in range(int(arrays["columns"])):
        at = (np.int32(n), np.int32(pivot))
        gpu.launch("multipliers", (-(-n // THREADS),), (THREADS,), matrix, multiplier, *at)
        gpu.launch("eliminate", (tiles, tiles), (BLOCK, BLOCK), matrix, right, multiplier, *at)
    return {"matrix": matrix.get(), "right": right.get()}


def reference(arrays: Arrays) -> Arrays:
    matrix, right = arrays["matrix"].astype(np.float64), arrays["right"].astype(np.float64)
    for pivot in range(int(arrays["columns"])):
        factor = matrix[pivot + 1 :, pivot] / matrix[pivot, pivot]
        matrix[pivot + 1 :, pivot:] -= np.outer(factor, matrix[pivot, pivot:])
        right[pivot + 1 :] -= factor * right[pivot]
    return {"matrix": matrix.astype(np.float32), "right": right.astype(np.float32)}
