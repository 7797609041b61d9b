"""Temperature of a chip under a power map, two time steps a launch."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 8
BLOCK = 16
STEPS_PER_LAUNCH = 2
SIZES = Sizes(tiny=(40, 44, 4), small=(132, 132, 4), paper=(512, 512, 2))  # rows, columns, steps
TOLERANCE = {"temperature": (1e-5, 1e-4)}
# Per-step coefficients: 1 / capacity, and the conductances along x, along y and to the surroundings.
PER_CAPACITY, PER_RX, PER_RY, PER_RZ, SURROUNDINGS = (np.float32(value) for value in (0.1, 0.9, 1.1, 0.2, 80.0))


def inputs(size: Size, seed: int = SEED) -> Arrays:
    rows, columns, steps = SIZES[size]
    random = np.random.default_rng(seed)
    return {
        "power": random.gamma(1.0, 4.0, (rows, columns)).astype(np.float32),
        "temperature": random.uniform(320, 340, (rows, columns)).astype(np.float32),
        "steps": np.array(steps, np.int32),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    rows, columns = arrays["power"].shape
    power, before = gpu.array(arrays["power"]), gpu.array(arrays["temperature"])
    after = gpu.array(np.zeros((rows, columns), np.float32))
    inner = BLOCK - 2 * STEPS_PER_LAUNCH
    grid = (-(-columns // inner), -(-rows // inner))
    coefficients = (PER_CAPACITY, PER_RX, PER_RY, PER_RZ, SURROUNDINGS)
    for _ in range(int(arrays["steps"]) // STEPS_PER_LAUNCH):
        sizes = (np.int32(rows), np.int32(columns))
        gpu.launch("hotspot", grid, (BLOCK, BLOCK), np.int32(STEPS_PER_LAUNCH), power, before, after, *sizes, *coefficients)
        before, after = after, before
    return {"temperature": before.get()}


def reference(arrays: Arrays) -> Arrays:
    now = arrays["temperature"].astype(np.float64)
    power = arrays["power"].astype(np.float64)
    for _ in range(int(arrays["steps"])):
        padded = np.pad(now, 1, mode="edge")
        vertical = (padded[2:, 1:-1] + padded[:-2, 1:-1] - 2 * now) * float(PER_RY)
        horizontal = (padded[1:-1, 2:] + padded[1:-1, :-2] - 2 * now) * float(PER_RX)
        outwards = (float(SURROUNDINGS) - now) * float(PER_RZ)
        now = now + float(PER_CAPACITY) * (power + vertical + horizontal + outwards)
    return {"temperature": now.astype(np.float32)}
