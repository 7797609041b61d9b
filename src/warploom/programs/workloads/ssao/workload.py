"""Shader: screen-space ambient occlusion from a depth texture."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.sampling import bilinear, normalised, pixel_centres
from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 24
_BLOCK = (16, 16)
SIZES = Sizes(tiny=(32, 64), small=(192, 256), paper=(480, 640))  # height, width
# Texture filters weigh with eight bits; slopes from neighbouring pixels multiply that by half the width of the picture.
TOLERANCE = {"light": (0.0, 0.015)}
_RADIUS, _SHARPNESS = np.float32(0.1), np.float32(25.0)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """Depths of a wavy floor with round bumps; a 4 x 4 texture of turns; 16 samples that crowd towards the centre."""
    random = np.random.default_rng(seed)
    u, v = pixel_centres(128, 128)
    depths = 0.5 + 0.08 * np.sin(23 * u) * np.cos(19 * v)
    for _ in range(8):
        middle_u, middle_v = random.uniform(0.1, 0.9, 2)
        depths -= 0.25 * np.exp(-((u - middle_u) ** 2 + (v - middle_v) ** 2) / 0.005)
    angle = random.uniform(0, 2 * np.pi, (4, 4))
    turns = np.stack((np.cos(angle), np.sin(angle), np.zeros_like(angle), np.zeros_like(angle)), axis=-1)
    samples = np.zeros((16, 4))
    samples[:, :3] = normalised(random.uniform(-1, 1, (16, 3))) * np.linspace(0.2, 1, 16)[:, None]
    samples[:, 2] = np.abs(samples[:, 2])
    arrays = {"depths": depths, "turns": turns, "samples": samples}
    return {name: values.astype(np.float32) for name, values in arrays.items()} | {"shape": np.array(SIZES[size], np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    height, width = (int(extent) for extent in arrays["shape"])
    light, samples = gpu.array(np.zeros((height, width), np.float32)), gpu.array(arrays["samples"])
    depths = gpu.texture(arrays["depths"], linear=True, normalized=True)
    turns = gpu.texture(arrays["turns"], wrap=True, normalized=True)
    grid = (-(-width // _BLOCK[0]), -(-height // _BLOCK[1]))
    extent = (np.int32(width), np.int32(height))
    settings = (samples, np.int32(len(arrays["samples"])), _RADIUS, _SHARPNESS)
    gpu.launch("ssao", grid, _BLOCK, light, *extent, depths, turns, *settings)
    return {"light": light.get()}


def reference(arrays: Arrays) -> Arrays:
    height, width = (int(extent) for extent in arrays["shape"])
    radius, sharpness = float(_RADIUS), float(_SHARPNESS)
    u, v = pixel_centres(height, width)

    def depth_at(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return bilinear(arrays["depths"], u, v, wrap=False)

    depth = depth_at(u, v)
    slope_u = (depth_at(u + 1 / width, v) - depth_at(u - 1 / width, v)) * width / 2
    slope_v = (depth_at(u, v + 1 / height) - depth_at(u, v - 1 / height)) * height / 2
    normal = normalised(np.stack((slope_u, slope_v, -np.ones_like(depth)), axis=-1))
    y, x = np.mgrid[0:height, 0:width]
    turn = arrays["turns"].astype(np.float64)[y % 4, x % 4, :3]
    tangent = normalised(turn - normal * (turn * normal).sum(axis=-1, keepdims=True))
    across = np.cross(normal, tangent)
    occlusion = np.zeros_like(depth)
    for a, b, c, _ in arrays["samples"].astype(np.float64):
        offset = (tangent * a + across * b + normal * c) * radius
        behind = depth + offset[..., 2] - depth_at(u + offset[..., 0], v + offset[..., 1])
        occlusion += np.clip(behind * sharpness, 0, 1) / (1 + (behind / radius) ** 2)
    return {"light": (1 - occlusion / len(arrays["samples"])).astype(np.float32)}
