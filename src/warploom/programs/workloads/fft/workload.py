"""Batched 512-point complex FFT, radix 8."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 12
_POINTS, _THREADS = 512, 64
SIZES = Sizes(tiny=16, small=480, paper=2048)  # transforms
TOLERANCE = {"spectrum": (1e-5, 1e-4)}


def inputs(size: Size, seed: int = SEED) -> Arrays:
    random = np.random.default_rng(seed)
    signal = random.normal(size=(SIZES[size], _POINTS, 2)).astype(np.float32)
    angle = -2 * np.pi * np.arange(_POINTS) / _POINTS
    return {"signal": signal, "roots": np.stack((np.cos(angle), np.sin(angle)), axis=-1).astype(np.float32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    signal, roots = gpu.array(arrays["signal"]), gpu.array(arrays["roots"])
    spectrum = gpu.array(np.zeros_like(arrays["signal"]))
    gpu.launch("fft512", (len(arrays["signal"]),), (_THREADS,), signal, spectrum, roots)
    return {"spectrum": spectrum.get()}


def reference(arrays: Arrays) -> Arrays:
    signal = arrays["signal"].astype(np.float64)
    spectrum = np.fft.fft(signal[..., 0] + 1j * signal[..., 1])
    return {"spectrum": np.stack((spectrum.real, spectrum.imag), axis=-1).astype(np.float32)}
