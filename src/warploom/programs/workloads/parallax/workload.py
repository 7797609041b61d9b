"""Shader: parallax occlusion mapping, ray marching through a depth texture."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.sampling import bilinear, pixel_centres, smooth_texture
from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 203
_BLOCK = (32, 8)
_LAYERS, _SIDE = 16, 64
SIZES = Sizes(tiny=(32, 64), small=(240, 320), paper=(480, 640))  # height, width
TOLERANCE = {"picture": (0.0, 2e-3)}  # texture filters weigh with eight bits
_EYE = (np.float32(0.3), np.float32(-0.2), np.float32(1.2))
_LIGHT = (np.float32(0.48), np.float32(0.6), np.float32(0.64))
_SCALE, _TILES = np.float32(0.1), np.float32(2.0)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """Depths are gentle enough that a ray enters the surface only once."""
    y, x = np.mgrid[0:_SIDE, 0:_SIDE] * (2 * np.pi / _SIDE)
    depths = 0.5 + 0.22 * np.sin(2 * x + y) + 0.2 * np.cos(2 * y - x)
    shape = np.array(SIZES[size], np.int32)
    return {"depths": depths.astype(np.float32), "colours": smooth_texture(seed, _SIDE), "shape": shape}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    height, width = (int(extent) for extent in arrays["shape"])
    picture = gpu.array(np.zeros((height, width, 4), np.float32))
    textures = [gpu.texture(arrays[name], linear=True, wrap=True, normalized=True) for name in ("depths", "colours")]
    grid = (-(-width // _BLOCK[0]), -(-height // _BLOCK[1]))
    extent = (np.int32(width), np.int32(height))
    gpu.launch("parallax", grid, _BLOCK, picture, *extent, *textures, *_EYE, *_LIGHT, _SCALE, _TILES)
    return {"picture": picture.get()}


def reference(arrays: Arrays) -> Arrays:
    depths = arrays["depths"]

    def depth_at(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return bilinear(depths, u, v, wrap=True)

    u, v = pixel_centres(*arrays["shape"])
    eye_x, eye_y, eye_z = (float(value) for value in _EYE)
    shift = float(_SCALE) / (eye_z * _LAYERS)
    step_u, step_v = (eye_x - (2 * u - 1)) * shift, (eye_y - (2 * v - 1)) * shift
    u, v = u * float(_TILES), v * float(_TILES)
    layer, before, depth = np.zeros_like(u), np.zeros_like(u), depth_at(u, v)
    for _ in range(_LAYERS):
        walks = layer < depth
        before = np.where(walks, depth - layer, before)
        u, v = np.where(walks, u - step_u, u), np.where(walks, v - step_v, v)
        depth = np.where(walks, depth_at(u, v), depth)
        layer = np.where(walks, layer + 1 / _LAYERS, layer)
    back = (layer - depth) / (layer - depth + before)
    u, v = u + step_u * back, v + step_v * back
    texel = 1 / _SIDE
    slope_u = depth_at(u + texel, v) - depth_at(u - texel, v)
    slope_v = depth_at(u, v + texel) - depth_at(u, v - texel)
    light_x, light_y, light_z = (float(value) for value in _LIGHT)
    facing = (slope_u * light_x + slope_v * light_y + 0.3 * light_z) / np.sqrt(slope_u**2 + slope_v**2 + 0.09)
    light = 0.15 + 0.85 * np.maximum(facing, 0)
    colour = bilinear(arrays["colours"], u, v, wrap=True)[..., :3] * light[..., None]
    picture = np.concatenate((colour, np.ones_like(colour[..., :1])), axis=-1)
    return {"picture": picture.astype(np.float32)}
