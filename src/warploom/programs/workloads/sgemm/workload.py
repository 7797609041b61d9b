"""Single-precision matrix product, sixteen results of a row a thread."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 17
COLUMNS, SLICE = 16, 8
ROWS = COLUMNS * SLICE
SIZES = Sizes(tiny=(256, 48, 40), small=(640, 240, 96), paper=(1024, 496, 160))  # rows, columns, inner
TOLERANCE = {"c": (1e-5, 2e-5)}
ALPHA, BETA = np.float32(1.5), np.float32(0.5)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    rows, columns, inner = SIZES[size]
    random = np.random.default_rng(seed)
    # Stored by columns: what is here (inner, rows) is A, (inner, columns) the transpose of B, (columns, rows) C.
    shapes = {"a": (inner, rows), "b": (inner, columns), "c": (columns, rows)}
    return {name: random.uniform(-1, 1, shape).astype(np.float32) for name, shape in shapes.items()}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    inner, rows = arrays["a"].shape
    columns = arrays["b"].shape[1]
    a, b, c = (gpu.array(arrays[name]) for name in ("a", "b", "c"))
    grid = (rows // ROWS, columns // COLUMNS)
    gpu.launch("sgemm", grid, (COLUMNS, SLICE), a, np.int32(rows), b, np.int32(columns), c, np.int32(inner), ALPHA, BETA)
    return {"c": c.get()}


def reference(arrays: Arrays) -> Arrays:
    product = arrays["b"].T.astype(np.float64) @ arrays["a"]
    return {"c": (float(ALPHA) * product + float(BETA) * arrays["c"]).astype(np.float32)}
