"""How a texture unit samples, in NumPy: what the references of the shaders look textures up with."""

from __future__ import annotations

import numpy as np


def bilinear(texture: np.ndarray, u: np.ndarray, v: np.ndarray, *, wrap: bool) -> np.ndarray:
    """Texels around the normalised coordinates, weighted with exact fractions (hardware keeps eight bits of them)."""
    height, width = texture.shape[:2]
    x, y = np.asarray(u, np.float64) * width - 0.5, np.asarray(v, np.float64) * height - 0.5
    column, row = np.floor(x), np.floor(y)
    across, down = x - column, y - row
    if texture.ndim > 2:
        across, down = across[..., None], down[..., None]
    upper = _texel(texture, row, column, wrap) * (1 - across) + _texel(texture, row, column + 1, wrap) * across
    lower = _texel(texture, row + 1, column, wrap) * (1 - across) + _texel(texture, row + 1, column + 1, wrap) * across
    return upper * (1 - down) + lower * down


def _texel(texture: np.ndarray, row: np.ndarray, column: np.ndarray, wrap: bool) -> np.ndarray:
    height, width = texture.shape[:2]
    rows, columns = row.astype(np.int64), column.astype(np.int64)
    if wrap:
        return texture[rows % height, columns % width].astype(np.float64)
    return texture[np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)].astype(np.float64)


def normalised(vectors: np.ndarray) -> np.ndarray:
    """Vectors of the last axis at length one."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def pixel_centres(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Normalised coordinates (u, v) of the centres of all pixels."""
    y, x = np.mgrid[0:height, 0:width]
    return (x + 0.5) / width, (y + 0.5) / height


def smooth_texture(seed: int, side: int, waves: int = 3) -> np.ndarray:
    """A square RGBA texture that tiles without a seam: a few random waves in each channel, values from 0 to 1."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:side, 0:side] * (2 * np.pi / side)
    texture = np.zeros((side, side, 4))
    for channel in range(4):
        for _ in range(waves):
            along_x, along_y = random.integers(-2, 3, 2)
            texture[..., channel] += random.uniform(0.3, 1) * np.sin(along_x * x + along_y * y + random.uniform(0, 2 * np.pi))
    low, high = texture.min(axis=(0, 1)), texture.max(axis=(0, 1))
    return ((texture - low) / np.maximum(high - low, 1e-3)).astype(np.float32)
