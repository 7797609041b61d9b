"""Inputs, launch and reference of montecarlo."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes, Workload

SEED = 13
_THREADS = 256
_SIZES = Sizes(tiny=(12, 4096), small=(128, 16384), paper=(256, 65536))  # options, paths
_YEARS = 1.5


def _inputs(size: Size, seed: int = SEED) -> Arrays:
    options, paths = _SIZES[size]
    random = np.random.default_rng(seed)
    spot, strike = random.uniform(20, 60, options), random.uniform(15, 70, options)
    rate, volatility = random.uniform(0.01, 0.06, options), random.uniform(0.1, 0.4, options)
    rows = (spot, strike, (rate - volatility**2 / 2) * _YEARS, volatility * np.sqrt(_YEARS))
    deviates = random.standard_normal(paths).astype(np.float32)
    return {"options": np.stack(rows, axis=1).astype(np.float32), "deviates": deviates}


def _host(gpu: Gpu, arrays: Arrays) -> Arrays:
    options, paths = len(arrays["options"]), len(arrays["deviates"])
    sums = gpu.array(np.zeros((options, 2), np.float32))
    given, deviates = gpu.array(arrays["options"]), gpu.array(arrays["deviates"])
    gpu.launch("montecarlo", (options,), (_THREADS,), given, deviates, np.int32(paths), sums)
    return {"moments": sums.get() / np.float32(paths)}


def _reference(arrays: Arrays) -> Arrays:
    deviates = arrays["deviates"].astype(np.float64)
    moments = []
    for spot, strike, drift, volatility in arrays["options"].astype(np.float64):
        gain = np.maximum(spot * np.exp(drift + volatility * deviates) - strike, 0)
        moments.append((gain.mean(), (gain * gain).mean()))
    return {"moments": np.array(moments, np.float32)}


WORKLOAD = Workload(
    name="montecarlo",
    title="Monte Carlo pricing of European options, one option a CTA",
    seed=SEED,
    sizes=_SIZES,
    inputs=_inputs,
    host=_host,
    reference=_reference,
    tolerance={"moments": (1e-5, 1e-5)},
    shaped="one warp adds up the pay-offs, eight values a lane; the CUDA sample has a tree over all threads",
)
