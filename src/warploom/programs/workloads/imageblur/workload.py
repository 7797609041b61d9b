"""Separable Gaussian blur of a picture, 17 taps."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 9
_RADIUS, _OUTPUTS = 8, 4
_ROWS, _COLUMNS = (32, 4), (16, 8)
SIZES = Sizes(tiny=(64, 128), small=(360, 480), paper=(1024, 1024))  # height, width
TOLERANCE = {"blurred": (1e-6, 1e-4)}


def inputs(size: Size, seed: int = SEED) -> Arrays:
    height, width = SIZES[size]
    random = np.random.default_rng(seed)
    image = random.integers(0, 256, (height, width)).astype(np.float32)
    image[height // 4 : height // 2, width // 4 : width // 2] = 200
    taps = np.exp(-(np.arange(-_RADIUS, _RADIUS + 1) ** 2) / (2 * 3.0**2))
    return {"image": image, "taps": (taps / taps.sum()).astype(np.float32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    height, width = arrays["image"].shape
    image, between, blurred = gpu.array(arrays["image"]), gpu.array(arrays["image"]), gpu.array(arrays["image"])
    taps, extent = gpu.array(arrays["taps"]), (np.int32(width), np.int32(height))
    grid = (-(-width // (_OUTPUTS * _ROWS[0])), -(-height // _ROWS[1]))
    gpu.launch("blur_rows", grid, _ROWS, image, between, *extent, taps)
    grid = (-(-width // _COLUMNS[0]), -(-height // (_OUTPUTS * _COLUMNS[1])))
    gpu.launch("blur_columns", grid, _COLUMNS, between, blurred, *extent, taps)
    return {"blurred": blurred.get()}


def reference(arrays: Arrays) -> Arrays:
    blurred = arrays["image"].astype(np.float64)
    for _ in range(2):  # along rows, then, transposed, along columns
        width = blurred.shape[1]
        edge = np.pad(blurred, ((0, 0), (_RADIUS, _RADIUS)), mode="edge")
        shares = [share * edge[:, tap : tap + width] for tap, share in enumerate(arrays["taps"].astype(np.float64))]
        blurred = np.sum(shares, axis=0).T
    return {"blurred": blurred.astype(np.float32)}
