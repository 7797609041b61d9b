"""Forward DCT, quantisation and zig-zag order of JPEG."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 10
_BLOCKS, _BITS, _KEPT = 8, 13, 2
SIZES = Sizes(tiny=(64, 128), small=(512, 512), paper=(1024, 1536))  # height, width
# Row k of the transform in 13 bits: cos(k (2 i + 1) pi / 16) / 2, and the root of 1/8 for k = 0.
_ANGLES = np.outer(np.arange(8), 2 * np.arange(8) + 1) * np.pi / 16
_COSINES = np.round(np.cos(_ANGLES) / 2 * np.where(np.arange(8) == 0, np.sqrt(0.5), 1)[:, None] * 2**_BITS).astype(np.int64)
_ZIGZAG = sorted(range(64), key=lambda i: (i // 8 + i % 8, i // 8 if (i // 8 + i % 8) % 2 else i % 8))


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """A picture with smooth parts, edges and noise; steps that grow with frequency, as encoders choose them."""
    height, width = SIZES[size]
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    image = 120 + 70 * np.sin(x / 31) * np.cos(y / 27) + 50 * ((x // 40 + y // 24) % 2) + random.normal(0, 5, (height, width))
    v, u = np.mgrid[0:8, 0:8]
    quantum = 10 + 5 * (u + v) + 2 * u * v
    return {"image": np.clip(np.round(image), 0, 255).astype(np.uint8), "quantum": quantum.astype(np.uint16)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    height, width = arrays["image"].shape
    blocks = height // 8 * (width // 8)
    image, quantum = gpu.array(arrays["image"]), gpu.array(arrays["quantum"])
    coefficients, bits = gpu.array(np.zeros((blocks, 64), np.int16)), gpu.array(np.zeros(blocks, np.int32))
    grid = (width // (8 * _BLOCKS), height // 8)
    gpu.launch("jpeg_transform", grid, (8, _BLOCKS), image, np.int32(width), quantum, coefficients, bits)
    return {"coefficients": coefficients.get(), "bits": bits.get()}


def _transformed(rows: np.ndarray, shift: int) -> np.ndarray:
    return (rows @ _COSINES.T + (1 << (shift - 1))) >> shift


def reference(arrays: Arrays) -> Arrays:
    height, width = arrays["image"].shape
    pixels = arrays["image"].astype(np.int64).reshape(height // 8, 8, width // 8, 8).swapaxes(1, 2).reshape(-1, 8, 8) - 128
    along_rows = _transformed(pixels, _BITS - _KEPT)
    spectrum = _transformed(along_rows.swapaxes(1, 2), _BITS + _KEPT).swapaxes(1, 2)
    quantum = arrays["quantum"].astype(np.int64)
    magnitude = (np.abs(spectrum) + quantum // 2) // quantum
    coefficients = (np.sign(spectrum) * magnitude).reshape(-1, 64)[:, _ZIGZAG]
    bits = np.where(magnitude > 0, 4 + np.frexp(magnitude)[1], 0).sum(axis=(1, 2))
    return {"coefficients": coefficients.astype(np.int16), "bits": bits.astype(np.int32)}
