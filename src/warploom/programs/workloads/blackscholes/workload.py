"""Prices of European options by the Black-Scholes formula."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 2
THREADS = 128
SIZES = Sizes(tiny=(8, 5000), small=(120, 61440), paper=(480, 491520))  # CTAs, options
TOLERANCE = {"call": (1e-4, 1e-4), "put": (1e-4, 1e-4)}
RISKFREE, VOLATILITY = np.float32(0.02), np.float32(0.30)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    ctas, options = SIZES[size]
    random = np.random.default_rng(seed)
    return {
        "ctas": np.array(ctas, np.int32),
        "price": random.uniform(5, 30, options).astype(np.float32),
        "strike": random.uniform(1, 100, options).astype(np.float32),
        "years": random.uniform(0.25, 10, options).astype(np.float32),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    options = len(arrays["price"])
    call, put = gpu.array(np.zeros(options, np.float32)), gpu.array(np.zeros(options, np.float32))
    market = [gpu.array(arrays[name]) for name in ("price", "strike", "years")]
    grid = (int(arrays["ctas"]),)
    gpu.launch("blackscholes", grid, (THREADS,), call, put, *market, RISKFREE, VOLATILITY, np.int32(options))
    return {"call": call.get(), "put": put.get()}


def cumulative_normal(d: np.ndarray) -> np.ndarray:
    """The polynomial that the kernel uses, in double precision."""
    k = 1 / (1 + 0.2316419 * np.abs(d))
    polynomial = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.39894228 * np.exp(-0.5 * d * d) * polynomial
    return np.where(d > 0, 1 - tail, tail)


def reference(arrays: Arrays) -> Arrays:
    price, strike, years = (arrays[name].astype(np.float64) for name in ("price", "strike", "years"))
    rate, volatility = float(RISKFREE), float(VOLATILITY)
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility**2) * years) / deviation
    n1, n2 = cumulative_normal(d1), cumulative_normal(d1 - deviation)
    discounted = strike * np.exp(-rate * years)
    call = price * n1 - discounted * n2
    put = discounted * (1 - n2) - price * (1 - n1)
    return {"call": call.astype(np.float32), "put": put.astype(np.float32)}
