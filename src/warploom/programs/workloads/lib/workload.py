"""Monte Carlo value and sensitivity of swaptions in the LIBOR market model, one path a thread."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

THREADS = 64
# Paths, forward rates, time steps.
SIZES = Sizes(tiny=(256, 24, 12), small=(4096, 34, 17), paper=(4096, 80, 40), chip=(12_288, 80, 40))
TOLERANCE = {"values": (1e-4, 1e-4), "sensitivities": (2e-4, 1e-2)}
DELTA = np.float32(0.25)
MATURITIES = np.array([2, 2, 2, 4, 4, 4, 5, 5, 5, 6, 6, 7, 8, 9, 10])
SWAP_RATES = np.array([0.045, 0.05, 0.055] * 5, np.float32)


def inputs(size: Size) -> Arrays:
    """Constant inputs, as in the paper that explains this workload's compressibility by them: every path is the same."""
    paths, rates, steps = SIZES[size]
    return {
        "normals": np.full((steps, paths), 0.3, np.float32),
        "initial_rates": np.full(rates, 0.05, np.float32),
        "volatilities": np.full(rates, 0.2, np.float32),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    steps, paths = arrays["normals"].shape
    values, sensitivities = (gpu.array(np.zeros(paths, np.float32)) for _ in range(2))
    data = [gpu.array(arrays[name]) for name in ("normals", "initial_rates", "volatilities")]
    sizes = (np.int32(paths), np.int32(len(arrays["initial_rates"])), np.int32(steps))
    gpu.launch("libor", (-(-paths // THREADS),), (THREADS,), *data, values, sensitivities, *sizes, DELTA, np.sqrt(DELTA))
    return {"values": values.get(), "sensitivities": sensitivities.get()}


def reference(arrays: Arrays) -> Arrays:
    """In complex numbers: the imaginary part of a tiny imaginary shift of the rates is the derivative, without cancellation."""
    normals = arrays["normals"].astype(np.float64)
    volatilities = arrays["volatilities"].astype(np.float64)
    steps, paths = normals.shape
    rates = len(volatilities)
    delta = float(DELTA)
    shift = 1e-30
    forward = np.repeat(arrays["initial_rates"].astype(np.complex128)[:, None] + 1j * shift, paths, axis=1)
    for step in range(steps):
        volatility = volatilities[: rates - step - 1, None]
        scaled = delta * volatility
        later = forward[step + 1 :]
        drift = np.cumsum(scaled * later / (1 + delta * later), axis=0)
        forward[step + 1 :] = later * np.exp(scaled * drift + volatility * (np.sqrt(delta) * normals[step] - 0.5 * scaled))
    discounts = np.cumprod(1 / (1 + delta * forward[steps:]), axis=0)
    annuities = np.cumsum(delta * discounts, axis=0)
    swaps = discounts[MATURITIES - 1] + SWAP_RATES.astype(np.float64)[:, None] * annuities[MATURITIES - 1] - 1
    payoff = np.where(swaps.real < 0, -100 * swaps, 0).sum(axis=0)
    value = np.prod(1 / (1 + delta * forward[:steps]), axis=0) * payoff
    return {"values": value.real.astype(np.float32), "sensitivities": (value.imag / shift).astype(np.float32)}
