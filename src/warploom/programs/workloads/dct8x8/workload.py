"""Discrete cosine transform of the 8 x 8 blocks of an image."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 3
N, TILE_HEIGHT, TILE_WIDTH = 8, 16, 32
SIZES = Sizes(tiny=(96, 128), small=(512, 512), paper=(1024, 2048))  # rows, columns of pixels
TOLERANCE = {"coefficients": (1e-5, 2e-3)}


def inputs(size: Size, seed: int = SEED) -> Arrays:
    rows, columns = SIZES[size]
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:rows, 0:columns]
    image = 128 + 90 * np.sin(x / 11) * np.cos(y / 17) + random.normal(0, 8, (rows, columns))
    return {"image": np.clip(np.rint(image), 0, 255).astype(np.float32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    rows, columns = arrays["image"].shape
    coefficients = gpu.array(np.zeros((rows, columns), np.float32))
    grid, block = (columns // TILE_WIDTH, rows // TILE_HEIGHT), (TILE_WIDTH, TILE_HEIGHT // N)
    gpu.launch("dct8x8", grid, block, gpu.array(arrays["image"]), coefficients, np.int32(columns))
    return {"coefficients": coefficients.get()}


def reference(arrays: Arrays) -> Arrays:
    image = arrays["image"]
    rows, columns = image.shape
    k, n = np.mgrid[0:N, 0:N]
    basis = np.where(k == 0, np.sqrt(1 / N), np.sqrt(2 / N)) * np.cos((2 * n + 1) * k * np.pi / (2 * N))
    blocks = image.reshape(rows // N, N, columns // N, N).transpose(0, 2, 1, 3) - 128.0
    transformed = basis @ blocks @ basis.T
    return {"coefficients": transformed.transpose(0, 2, 1, 3).reshape(rows, columns).astype(np.float32)}
