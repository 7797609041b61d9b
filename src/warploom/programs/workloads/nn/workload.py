"""Nearest neighbours of a place, 16 threads a CTA."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 20
THREADS, NEAREST = 16, 5
SIZES = Sizes(tiny=9000, small=42_764, paper=42_764)  # records
TOLERANCE = {"distances": (1e-6, 1e-6)}
LATITUDE, LONGITUDE = np.float32(30), np.float32(90)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    random = np.random.default_rng(seed)
    return {"places": random.uniform((7, 1), (60, 180), (SIZES[size], 2)).astype(np.float32)}


def nearest(distances: np.ndarray) -> Arrays:
    """What the host does with the distances: the few smallest."""
    return {"distances": distances, "nearest": np.argsort(distances, kind="stable")[:NEAREST].astype(np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    records = len(arrays["places"])
    distances = gpu.array(np.zeros(records, np.float32))
    grid = (-(-records // THREADS),)
    gpu.launch("nn", grid, (THREADS,), gpu.array(arrays["places"]), distances, np.int32(records), LATITUDE, LONGITUDE)
    return nearest(distances.get())


def reference(arrays: Arrays) -> Arrays:
    offset = arrays["places"].astype(np.float64) - (float(LATITUDE), float(LONGITUDE))
    return nearest(np.hypot(offset[:, 0], offset[:, 1]).astype(np.float32))
