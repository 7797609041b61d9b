"""Two-dimensional CDF 9/7 wavelet transform of a picture, several levels.

Like Rodinia's dwt2d.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 44
_THREADS, _TILE, _ROWS = 128, 120, 24
SIZES = Sizes(tiny=(96, 240, 2), small=(480, 960, 3), paper=(1024, 1024, 3))
TOLERANCE = {"approximation": (1e-5, 1e-3), "detail": (1e-5, 1e-3)}
_LIFTING = (-1.586134342, -0.05298011854, 0.8829110762, 0.4435068522)
_LOW_SCALE, _HIGH_SCALE = 0.8128930655, 1.230174105


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """A smooth picture with 8-bit values and some noise."""
    height, width, levels = SIZES[size]
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    smooth = 128 + 60 * np.sin(x / 23) * np.cos(y / 17) + 20 * np.sin((x + 2 * y) / 5)
    image = np.clip(np.round(smooth + random.normal(0, 6, (height, width))), 0, 255).astype(np.float32)
    return {"image": image, "levels": np.array(levels, np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    """One launch per level; each level transforms the approximation that the last one left."""
    height, width = arrays["image"].shape
    pitch = width
    detail = gpu.array(np.zeros((height, width), np.float32))
    approximation = gpu.array(arrays["image"])
    for _ in range(int(arrays["levels"])):
        image = approximation
        approximation = gpu.array(np.zeros((height // 2, width // 2), np.float32))
        gpu.launch(
            "dwt97",
            (-(-width // _TILE), -(-height // _ROWS)),
            (_THREADS,),
            image,
            np.int32(width),
            np.int32(height),
            approximation,
            detail,
            np.int32(pitch),
        )
        height, width = height // 2, width // 2
    return {"approximation": approximation.get(), "detail": detail.get()}


def _lifted(samples: np.ndarray) -> np.ndarray:
    """The transform along the last axis, low band first."""
    padded = np.pad(samples, [(0, 0)] * (samples.ndim - 1) + [(4, 4)], mode="reflect")
    length = padded.shape[-1]
    for start, factor in enumerate(_LIFTING, 1):
        neighbours = padded[..., start - 1 : length - start - 1 : 2] + padded[..., start + 1 : length - start + 1 : 2]
        padded[..., start : length - start : 2] += factor * neighbours
    core = padded[..., 4:-4]
    return np.concatenate((core[..., ::2] * _LOW_SCALE, core[..., 1::2] * _HIGH_SCALE), axis=-1)


def reference(arrays: Arrays) -> Arrays:
    approximation = arrays["image"].astype(np.float64)
    detail = np.zeros_like(approximation)
    for _ in range(int(arrays["levels"])):
        height, width = approximation.shape
        bands = _lifted(np.ascontiguousarray(_lifted(approximation).T)).T
        approximation = bands[: height // 2, : width // 2].copy()
        bands[: height // 2, : width // 2] = detail[: height // 2, : width // 2]
        detail[:height, :width] = bands
    return {"approximation": approximation.astype(np.float32), "detail": detail.astype(np.float32)}
