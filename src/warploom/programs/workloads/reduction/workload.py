"""Sum of an array by a tree in shared memory."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 4
THREADS = 256
SIZES = Sizes(tiny=(8, 60_000), small=(90, 1_000_000), paper=(64, 4_194_304), chip=(512, 16_777_216))  # CTAs, elements
TOLERANCE = {"total": (1e-5, 0.0)}


def inputs(size: Size, seed: int = SEED) -> Arrays:
    ctas, elements = SIZES[size]
    random = np.random.default_rng(seed)
    return {"ctas": np.array(ctas, np.int32), "values": random.uniform(0, 1, elements).astype(np.float32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    ctas, elements = int(arrays["ctas"]), len(arrays["values"])
    sums = gpu.array(np.zeros(ctas, np.float32))
    total = gpu.array(np.zeros(1, np.float32))
    gpu.launch("reduction", (ctas,), (THREADS,), gpu.array(arrays["values"]), sums, np.int32(elements))
    gpu.launch("reduction", (1,), (THREADS,), sums, total, np.int32(ctas))
    return {"total": total.get()}


def reference(arrays: Arrays) -> Arrays:
    return {"total": np.array([arrays["values"].sum(dtype=np.float64)], np.float32)}
