"""Scalar products of pairs of vectors, a pair a CTA at a time."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 9
THREADS = 256
# CTAs, pairs, elements of a vector.
SIZES = Sizes(tiny=(4, 6, 2500), small=(90, 128, 4096), paper=(128, 256, 4096), chip=(512, 1024, 4096))
TOLERANCE = {"products": (1e-5, 0.0)}


def inputs(size: Size, seed: int = SEED) -> Arrays:
    ctas, vectors, elements = SIZES[size]
    random = np.random.default_rng(seed)
    arrays = {name: random.uniform(0, 1, (vectors, elements)).astype(np.float32) for name in ("a", "b")}
    return arrays | {"ctas": np.array(ctas, np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    vectors, elements = arrays["a"].shape
    products = gpu.array(np.zeros(vectors, np.float32))
    a, b = gpu.array(arrays["a"]), gpu.array(arrays["b"])
    gpu.launch("scalarprod", (int(arrays["ctas"]),), (THREADS,), products, a, b, np.int32(vectors), np.int32(elements))
    return {"products": products.get()}


def reference(arrays: Arrays) -> Arrays:
    return {"products": (arrays["a"].astype(np.float64) * arrays["b"]).sum(axis=1).astype(np.float32)}
