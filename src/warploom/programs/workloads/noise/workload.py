"""Shader: procedural marble from gradient noise with a permutation texture."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 26
_BLOCK = (16, 16)
SIZES = Sizes(tiny=(16, 64, 2), small=(128, 192, 3), paper=(480, 640, 4))  # height, width, octaves
TOLERANCE = {"picture": (0.0, 3e-5)}
_SCALE, _TIME = np.float32(0.0625), np.float32(3.3)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """Texel (y, x) of the permutation texture holds the hashes of cell corners (x, y), (x, y+1), (x+1, y), (x+1, y+1)."""
    height, width, octaves = SIZES[size]
    random = np.random.default_rng(seed)
    once = random.permutation(256)
    y, x = np.mgrid[0:256, 0:256]
    corners = [once[(once[(x + dx) & 255] + y + dy) & 255] for dx in (0, 1) for dy in (0, 1)]
    directions = [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if abs(a) + abs(b) + abs(c) == 2]
    gradients = np.zeros((1, 256, 4), np.float32)
    gradients[0, :, :3] = np.array(directions)[random.permutation(256) % len(directions)]
    return {
        "permutation": np.stack(corners, axis=-1).astype(np.float32),
        "gradients": gradients,
        "shape": np.array([height, width], np.int32),
        "octaves": np.array(octaves, np.int32),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    height, width = (int(extent) for extent in arrays["shape"])
    picture = gpu.array(np.zeros((height, width, 4), np.float32))
    permutation, gradients = gpu.texture(arrays["permutation"]), gpu.texture(arrays["gradients"])
    grid = (-(-width // _BLOCK[0]), -(-height // _BLOCK[1]))
    settings = (np.int32(width), np.int32(height), permutation, gradients, _SCALE, _TIME, np.int32(arrays["octaves"]))
    gpu.launch("marble", grid, _BLOCK, picture, *settings)
    return {"picture": picture.get()}


def _mix(a: np.ndarray, b: np.ndarray, t: np.ndarray | float) -> np.ndarray:
    return a + t * (b - a)


def _gradient_noise(arrays: Arrays, x: np.ndarray, y: np.ndarray, z: float) -> np.ndarray:
    cell_x, cell_y, cell_z = np.floor(x).astype(int), np.floor(y).astype(int), int(np.floor(z))
    x, y, z = x - cell_x, y - cell_y, z - cell_z
    hashes = arrays["permutation"][cell_y & 255, cell_x & 255].astype(int)
    u, v, w = (t * t * t * (t * (t * 6 - 15) + 10) for t in (x, y, z))
    layers = []
    for dz in (0, 1):
        slopes = {}
        for corner, (dx, dy) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
            gradient = arrays["gradients"][0, (hashes[..., corner] + cell_z + dz) & 255].astype(np.float64)
            slopes[dx, dy] = gradient[..., 0] * (x - dx) + gradient[..., 1] * (y - dy) + gradient[..., 2] * (z - dz)
        layers.append(_mix(_mix(slopes[0, 0], slopes[1, 0], u), _mix(slopes[0, 1], slopes[1, 1], u), v))
    return _mix(layers[0], layers[1], w)


def reference(arrays: Arrays) -> Arrays:
    height, width = (int(extent) for extent in arrays["shape"])
    row, column = np.mgrid[0:height, 0:width] * float(_SCALE)
    turbulence = np.zeros((height, width))
    for octave in range(int(arrays["octaves"])):
        factor = 2.0**octave
        turbulence += np.abs(_gradient_noise(arrays, column * factor, row * factor, float(_TIME) * factor)) / factor
    vein = 0.5 + 0.5 * np.sin(column * 2 + 5 * turbulence)
    colour = (0.2 + 0.75 * vein, 0.18 + 0.72 * vein * vein, 0.3 + 0.55 * vein, np.ones_like(vein))
    return {"picture": np.stack(colour, axis=-1).astype(np.float32)}
