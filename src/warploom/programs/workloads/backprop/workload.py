"""One training step of a neural network: forward sums, then adjusted weights."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 6
UNITS = 16
SIZES = Sizes(tiny=256, small=8192, paper=65536)  # inputs of the network
TOLERANCE = {"partial_sums": (1e-5, 1e-6), "weights": (1e-5, 1e-6), "momenta": (1e-5, 1e-6)}
RATE, MOMENTUM = np.float32(0.3), np.float32(0.3)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    n = SIZES[size]
    random = np.random.default_rng(seed)
    return {
        "input": random.uniform(0, 1, n).astype(np.float32),
        "weights": random.uniform(-0.05, 0.05, (n, UNITS)).astype(np.float32),
        "momenta": random.uniform(-0.01, 0.01, (n, UNITS)).astype(np.float32),
        "target": random.uniform(0, 1, UNITS).astype(np.float32),
    }


def deltas(partial_sums: np.ndarray, target: np.ndarray) -> np.ndarray:
    """What the host does between the two kernels: the hidden units' outputs, and their errors times the sigmoid's slope."""
    hidden = 1 / (1 + np.exp(-partial_sums.sum(axis=0, dtype=np.float64)))
    return ((target - hidden) * hidden * (1 - hidden)).astype(np.float32)


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    ctas = len(arrays["input"]) // UNITS
    block = (UNITS, UNITS)
    data, weights, momenta = (gpu.array(arrays[name]) for name in ("input", "weights", "momenta"))
    partial_sums = gpu.array(np.zeros((ctas, UNITS), np.float32))
    gpu.launch("forward", (ctas,), block, data, weights, partial_sums)
    errors = gpu.array(deltas(partial_sums.get(), arrays["target"]))
    gpu.launch("adjust", (ctas,), block, data, errors, weights, momenta, RATE, MOMENTUM)
    return {"partial_sums": partial_sums.get(), "weights": weights.get(), "momenta": momenta.get()}


def reference(arrays: Arrays) -> Arrays:
    data = arrays["input"].astype(np.float64)
    weights = arrays["weights"].astype(np.float64)
    partial_sums = (data[:, None] * weights).reshape(-1, UNITS, UNITS).sum(axis=1)
    errors = deltas(partial_sums, arrays["target"])
    steps = float(RATE) * errors * data[:, None] + float(MOMENTUM) * arrays["momenta"]
    return {
        "partial_sums": partial_sums.astype(np.float32),
        "weights": (weights + steps).astype(np.float32),
        "momenta": steps.astype(np.float32),
    }
