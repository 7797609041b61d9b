"""Shader: Blinn-Phong lighting with colour texture and normal map."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.sampling import bilinear, normalised, pixel_centres, smooth_texture
from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 20
_BLOCK = (32, 8)
SIZES = Sizes(tiny=(32, 64), small=(240, 320), paper=(480, 640))  # height, width
TOLERANCE = {"picture": (0.0, 2e-3)}  # texture filters weigh with eight bits
_EYE = (np.float32(0.2), np.float32(-0.4), np.float32(1.8))
_TILES, _SHININESS = np.float32(3.0), np.float32(24.0)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """Light positions (fading in w) and colours alternate; some lights lie so low that bumps face away from them."""
    height, width = SIZES[size]
    random = np.random.default_rng(seed)
    lights = np.empty((5, 2, 4))
    lights[:, 0, :2] = random.uniform(-1.5, 1.5, (5, 2))
    lights[:, 0, 2] = (0.15, 0.25, 0.4, 0.8, 1.5)
    lights[:, 0, 3] = random.uniform(0.5, 2, 5)
    lights[:, 1] = random.uniform(0.2, 0.9, (5, 4))
    return {
        "colours": smooth_texture(201, 64),
        "normals": smooth_texture(202, 64),
        "lights": lights.astype(np.float32),
        "shape": np.array([height, width], np.int32),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    height, width = (int(extent) for extent in arrays["shape"])
    picture, lights = gpu.array(np.zeros((height, width, 4), np.float32)), gpu.array(arrays["lights"])
    textures = [gpu.texture(arrays[name], linear=True, wrap=True, normalized=True) for name in ("colours", "normals")]
    grid = (-(-width // _BLOCK[0]), -(-height // _BLOCK[1]))
    extent = (np.int32(width), np.int32(height))
    scene = (lights, np.int32(len(arrays["lights"])), *_EYE, _TILES, _SHININESS)
    gpu.launch("phong", grid, _BLOCK, picture, *extent, *textures, *scene)
    return {"picture": picture.get()}


def reference(arrays: Arrays) -> Arrays:
    u, v = pixel_centres(*arrays["shape"])
    point = np.stack((2 * u - 1, 2 * v - 1, np.zeros_like(u)), axis=-1)
    tiles = float(_TILES)
    albedo = bilinear(arrays["colours"], u * tiles, v * tiles, wrap=True)
    bump = bilinear(arrays["normals"], u * tiles, v * tiles, wrap=True)
    normal = normalised(bump[..., :3] + np.array([-0.5, -0.5, 0.5]))
    view = normalised(np.array(_EYE, np.float64) - point)
    total = 0.05 * albedo[..., :3]
    for position, colour in arrays["lights"].astype(np.float64):
        to = position[:3] - point
        strength = 1 / (1 + position[3] * (to**2).sum(axis=-1))
        to = normalised(to)
        strength *= np.maximum((normal * to).sum(axis=-1), 0)
        shine = np.maximum((normal * normalised(to + view)).sum(axis=-1), 0) ** float(_SHININESS)
        total += strength[..., None] * colour[:3] * (albedo[..., :3] + (albedo[..., 3] * shine)[..., None])
    picture = np.concatenate((np.clip(total, 0, 1), np.ones_like(total[..., :1])), axis=-1)
    return {"picture": picture.astype(np.float32)}
