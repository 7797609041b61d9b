"""Dense matrix product in 16 x 16 tiles of shared memory."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 1
TILE = 16
SIZES = Sizes(tiny=(64, 64, 48), small=(128, 128, 128), paper=(128, 512, 128), chip=(512, 256, 512))  # rows, inner, columns
TOLERANCE = {"c": (1e-5, 1e-5)}


def inputs(size: Size, seed: int = SEED) -> Arrays:
    rows, inner, columns = SIZES[size]
    random = np.random.default_rng(seed)
    return {
        "a": random.uniform(-1, 1, (rows, inner)).astype(np.float32),
        "b": random.uniform(-1, 1, (inner, columns)).astype(np.float32),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    rows, inner = arrays["a"].shape
    columns = arrays["b"].shape[1]
    c = gpu.array(np.zeros((rows, columns), np.float32))
    a, b = gpu.array(arrays["a"]), gpu.array(arrays["b"])
    gpu.launch("matrixmul", (columns // TILE, rows // TILE), (TILE, TILE), a, b, c, np.int32(inner), np.int32(columns))
    return {"c": c.get()}


def reference(arrays: Arrays) -> Arrays:
    return {"c": (arrays["a"].astype(np.float64) @ arrays["b"]).astype(np.float32)}
