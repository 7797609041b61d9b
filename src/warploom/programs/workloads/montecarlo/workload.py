"""Monte Carlo pricing of European options, one option a CTA.

Like the CUDA SDK's MonteCarlo.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 13
_THREADS = 256
SIZES = Sizes(tiny=(12, 4096), small=(128, 16384), paper=(256, 65536))  # options, paths
TOLERANCE = {"moments": (1e-5, 1e-5)}
SHAPED = "one warp adds up the pay-offs, eight values a lane; the CUDA sample has a tree over all threads"
_YEARS = 1.5


def inputs(size: Size, seed: int = SEED) -> Arrays:
    options, paths = SIZES[size]
    random = np.random.default_rng(seed)
    spot, strike = random.uniform(20, 60, options), random.uniform(15, 70, options)
    rate, volatility = random.uniform(0.01, 0.06, options), random.uniform(0.1, 0.4, options)
    rows = (spot, strike, (rate - volatility**2 / 2) * _YEARS, volatility * np.sqrt(_YEARS))
    deviates = random.standard_normal(paths).astype(np.float32)
    return {"options": np.stack(rows, axis=1).astype(np.float32), "deviates": deviates}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    options, paths = len(arrays["options"]), len(arrays["deviates"])
    sums = gpu.array(np.zeros((options, 2), np.float32))
    given, deviates = gpu.array(arrays["options"]), gpu.array(arrays["deviates"])
    gpu.launch("montecarlo", (options,), (_THREADS,), given, deviates, np.int32(paths), sums)
    return {"moments": sums.get() / np.float32(paths)}


def reference(arrays: Arrays) -> Arrays:
    deviates = arrays["deviates"].astype(np.float64)
    moments = []
    for spot, strike, drift, volatility in arrays["options"].astype(np.float64):
        gain = np.maximum(spot * np.exp(drift + volatility * deviates) - strike, 0)
        moments.append((gain.mean(), (gain * gain).mean()))
    return {"moments": np.array(moments, np.float32)}
