"""Sum of two vectors, one element a thread."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 5
THREADS = 256
SIZES = Sizes(tiny=30_000, small=50_000, paper=50_000)  # elements; 50,000 make the paper's 196 CTAs


def inputs(size: Size, seed: int = SEED) -> Arrays:
    random = np.random.default_rng(seed)
    return {name: random.uniform(-1, 1, SIZES[size]).astype(np.float32) for name in ("a", "b")}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    n = len(arrays["a"])
    c = gpu.array(np.zeros(n, np.float32))
    gpu.launch("vectoradd", (-(-n // THREADS),), (THREADS,), gpu.array(arrays["a"]), gpu.array(arrays["b"]), c, np.int32(n))
    return {"c": c.get()}


def reference(arrays: Arrays) -> Arrays:
    return {"c": arrays["a"] + arrays["b"]}
