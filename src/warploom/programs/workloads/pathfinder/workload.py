"""Cheapest way through a grid of costs 0 to 9, twenty rows a launch."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 18
THREADS, STEPS = 256, 20
SIZES = Sizes(tiny=(25, 1000), small=(41, 19_440), paper=(61, 100_000))  # rows, columns


def inputs(size: Size, seed: int = SEED) -> Arrays:
    random = np.random.default_rng(seed)
    return {"wall": random.integers(0, 10, SIZES[size]).astype(np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    rows, columns = arrays["wall"].shape
    wall = gpu.array(arrays["wall"])
    before, after = gpu.array(arrays["wall"][0]), gpu.array(np.zeros(columns, np.int32))
    row = 1
    while row < rows:
        steps = min(STEPS, rows - row)
        grid = (-(-columns // (THREADS - 2 * steps)),)
        gpu.launch("pathfinder", grid, (THREADS,), np.int32(steps), wall, before, after, np.int32(columns), np.int32(row))
        before, after = after, before
        row += steps
    return {"cost": before.get()}


def reference(arrays: Arrays) -> Arrays:
    wall = arrays["wall"]
    cost = wall[0]
    for row in wall[1:]:
        padded = np.pad(cost, 1, mode="edge")
        cost = row + np.minimum(np.minimum(padded[:-2], padded[2:]), cost)
    return {"cost": cost.astype(np.int32)}
