"""Matrix multiplication in double precision."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 11
_SIDE, _TILE = 16, 32
SIZES = Sizes(tiny=(64, 96, 32), small=(256, 256, 192), paper=(512, 512, 512))  # rows, columns, depth
TOLERANCE = {"c": (1e-13, 1e-13)}
_ALPHA, _BETA = np.float64(1.25), np.float64(-0.5)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    m, n, k = SIZES[size]
    random = np.random.default_rng(seed)
    return {"a": random.uniform(-1, 1, (m, k)), "b": random.uniform(-1, 1, (k, n)), "c": random.uniform(-1, 1, (m, n))}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    (m, k), n = arrays["a"].shape, arrays["b"].shape[1]
    a, b, c = (gpu.array(arrays[name]) for name in "abc")
    extent = (np.int32(m), np.int32(n), np.int32(k))
    gpu.launch("dgemm", (n // _TILE, m // _TILE), (_SIDE, _SIDE), a, b, c, *extent, _ALPHA, _BETA)
    return {"c": c.get()}


def reference(arrays: Arrays) -> Arrays:
    return {"c": _ALPHA * (arrays["a"] @ arrays["b"]) + _BETA * arrays["c"]}
