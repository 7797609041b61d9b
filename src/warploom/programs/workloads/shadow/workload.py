"""Shader: soft shadows from a shadow map with nine comparisons."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.sampling import bilinear, pixel_centres, smooth_texture
from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 25
_BLOCK = (16, 16)
_SIDE = 128  # of the shadow map
SIZES = Sizes(tiny=(32, 64), small=(240, 320), paper=(480, 640))  # height, width
TOLERANCE = {"picture": (0.0, 5e-3)}  # texture filters weigh with eight bits, and depths differ by a texel's slope x 12
_TEXEL, _BIAS, _SHARPNESS = np.float32(1.5 / _SIDE), np.float32(0.03), np.float32(12.0)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """The map sees the ground at a depth near one and four casters with soft rims in front of it."""
    random = np.random.default_rng(seed)
    u, v = pixel_centres(_SIDE, _SIDE)
    shadow_map = np.full((_SIDE, _SIDE), 1.3)
    for _ in range(4):
        middle_u, middle_v = random.uniform(0.2, 0.8, 2)
        distance = np.hypot(u - middle_u, v - middle_v)
        shadow_map = np.minimum(shadow_map, 0.6 + 0.7 * np.clip((distance - 0.09) / 0.05, 0, 1))
    projection = np.array([[1, 0.2, 0.3, 0.1], [-0.2, 1.0, 0.2, 0.0], [0.05, -0.04, -0.5, 1.0], [0.1, 0.08, -0.2, 1.4]])
    return {
        "shadow_map": shadow_map.astype(np.float32),
        "colours": smooth_texture(204, 64),
        "projection": projection.astype(np.float32),
        "shape": np.array(SIZES[size], np.int32),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    height, width = (int(extent) for extent in arrays["shape"])
    picture, projection = gpu.array(np.zeros((height, width, 4), np.float32)), gpu.array(arrays["projection"])
    shadow_map = gpu.texture(arrays["shadow_map"], linear=True, normalized=True)
    colours = gpu.texture(arrays["colours"], linear=True, wrap=True, normalized=True)
    grid = (-(-width // _BLOCK[0]), -(-height // _BLOCK[1]))
    settings = (np.int32(width), np.int32(height), shadow_map, colours, projection, _TEXEL, _BIAS, _SHARPNESS)
    gpu.launch("shadow", grid, _BLOCK, picture, *settings)
    return {"picture": picture.get()}


def reference(arrays: Arrays) -> Arrays:
    u, v = pixel_centres(*arrays["shape"])
    x, y = 4 * u - 2, 4 * v - 2
    point = np.stack((x, y, 0.1 * np.sin(3 * x) * np.cos(2 * y), np.ones_like(x)), axis=-1)
    projected = point @ arrays["projection"].astype(np.float64).T
    map_u, map_v, depth = np.moveaxis(projected[..., :3] / projected[..., 3:], -1, 0)
    map_u, map_v = 0.5 + 0.5 * map_u, 0.5 + 0.5 * map_v
    border = np.minimum(np.minimum(map_u, 1 - map_u), np.minimum(map_v, 1 - map_v))
    lit = np.zeros_like(depth)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            place = (map_u + dx * float(_TEXEL), map_v + dy * float(_TEXEL))
            nearest = bilinear(arrays["shadow_map"], *place, wrap=False)
            lit += np.clip((nearest + float(_BIAS) - depth) * float(_SHARPNESS), 0, 1)
    lit *= np.clip(border * 8, 0, 1) / 9
    colour = bilinear(arrays["colours"], 2 * u, 2 * v, wrap=True)[..., :3] * (0.2 + 0.8 * lit)[..., None]
    return {"picture": np.concatenate((colour, lit[..., None]), axis=-1).astype(np.float32)}
