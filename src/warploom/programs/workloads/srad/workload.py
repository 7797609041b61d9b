"""Speckle-reducing anisotropic diffusion of a picture.

Like Rodinia's srad.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 18
_SIDE = 16
SIZES = Sizes(tiny=(64, 64, 2), small=(256, 384, 2), paper=(512, 512, 4))  # height, width, steps
TOLERANCE = {"image": (1e-5, 1e-4), "coefficient": (1e-4, 2e-5)}
SHAPED = "a thread has two rows of pixels, so that their divisions overlap; Rodinia's has one pixel"
_QUARTER_STEP = np.float32(0.125)
_PATCH = slice(0, 32)  # a uniform part of the picture, from which the noise is judged


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """A picture of two bright bodies on a dark ground under multiplicative speckle."""
    height, width, steps = SIZES[size]
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    body = np.hypot((x - width * 0.6) / width, (y - height * 0.6) / height) < 0.25
    bar = (x > width * 0.7) & (y < height * 0.3)
    clean = 40.0 + 120.0 * body + 70.0 * bar
    speckle = np.exp(random.normal(0, 0.15, (height, width)))
    return {"image": (clean * speckle).astype(np.float32), "steps": np.array(steps, np.int32)}


def _speckle(image: np.ndarray) -> np.float32:
    """The squared coefficient of variation of the uniform patch."""
    patch = image[_PATCH, _PATCH].astype(np.float64)
    return np.float32(patch.var() / patch.mean() ** 2)


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    """Two launches a step; the host judges the noise in between, as the program it is modelled on does."""
    height, width = arrays["image"].shape
    grid, block = (width // _SIDE, height // _SIDE), (_SIDE, _SIDE)
    tall_grid = (width // _SIDE, height // (2 * _SIDE))  # of the kernel whose threads take two rows each
    image = gpu.array(arrays["image"])
    gradient = gpu.array(np.zeros((height, width, 4), np.float32))
    coefficient = gpu.array(np.zeros((height, width), np.float32))
    extent = (np.int32(width), np.int32(height))
    for _ in range(int(arrays["steps"])):
        gpu.launch("diffusion_coefficients", tall_grid, block, image, gradient, coefficient, *extent, _speckle(image.get()))
        gpu.launch("diffuse", grid, block, image, gradient, coefficient, *extent, _QUARTER_STEP)
    return {"image": image.get(), "coefficient": coefficient.get()}


def reference(arrays: Arrays) -> Arrays:
    image = arrays["image"].astype(np.float64)
    coefficient = np.zeros_like(image)
    for _ in range(int(arrays["steps"])):
        speckle = float(_speckle(image))
        edge = np.pad(image, 1, mode="edge")
        north, south = edge[:-2, 1:-1] - image, edge[2:, 1:-1] - image
        west, east = edge[1:-1, :-2] - image, edge[1:-1, 2:] - image
        squares = (north**2 + south**2 + west**2 + east**2) / image**2
        laplacian = (north + south + west + east) / image
        variation = (squares / 2 - laplacian**2 / 16) / (1 + laplacian / 4) ** 2
        coefficient = np.clip(1 / (1 + (variation - speckle) / (speckle * (1 + speckle))), 0, 1)
        beyond = np.pad(coefficient, ((0, 1), (0, 1)), mode="edge")
        flow = coefficient * (north + west) + beyond[1:, :-1] * south + beyond[:-1, 1:] * east
        image = image + float(_QUARTER_STEP) * flow
    return {"image": image.astype(np.float32), "coefficient": coefficient.astype(np.float32)}
