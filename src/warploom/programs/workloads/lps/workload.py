"""Jacobi iterations of Laplace's equation on a box, plane by plane."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 13
BLOCK = (32, 4)
# Planes, rows, columns, iterations.
SIZES = Sizes(tiny=(10, 9, 70, 2), small=(24, 100, 100, 2), paper=(100, 100, 100, 1), chip=(192, 192, 192, 1))
TOLERANCE = {"field": (1e-5, 1e-6)}


def inputs(size: Size, seed: int = SEED) -> Arrays:
    *box, iterations = SIZES[size]
    random = np.random.default_rng(seed)
    return {"field": random.uniform(0, 1, box).astype(np.float32), "iterations": np.array(iterations, np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    nz, ny, nx = arrays["field"].shape
    before, after = gpu.array(arrays["field"]), gpu.array(np.zeros((nz, ny, nx), np.float32))
    grid = (-(-nx // BLOCK[0]), -(-ny // BLOCK[1]))
    for _ in range(int(arrays["iterations"])):
        gpu.launch("lps", grid, BLOCK, np.int32(nx), np.int32(ny), np.int32(nz), before, after)
        before, after = after, before
    return {"field": before.get()}


def reference(arrays: Arrays) -> Arrays:
    field = arrays["field"].astype(np.float64)
    for _ in range(int(arrays["iterations"])):
        following = field.copy()
        neighbours = field[:-2, 1:-1, 1:-1] + field[2:, 1:-1, 1:-1] + field[1:-1, :-2, 1:-1]
        neighbours += field[1:-1, 2:, 1:-1] + field[1:-1, 1:-1, :-2] + field[1:-1, 1:-1, 2:]
        following[1:-1, 1:-1, 1:-1] = neighbours / 6
        field = following
    return {"field": field.astype(np.float32)}
