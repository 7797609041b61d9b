"""Shader: glow around bright parts, with bilinear blur taps."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.sampling import bilinear, pixel_centres, smooth_texture
from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 27
_BLOCK = (16, 16)
SIZES = Sizes(tiny=(48, 96), small=(240, 320), paper=(480, 640))  # height, width
TOLERANCE = {"glow": (0.0, 5e-3), "picture": (0.0, 2e-3)}  # texture filters weigh with eight bits
_THRESHOLD, _KNEE, _STRENGTH, _EXPOSURE = np.float32(1.0), np.float32(0.5), np.float32(0.8), np.float32(1.2)
_SHARES, _PLACES = (0.19648255, 0.29690697, 0.09447040, 0.01038136), (0.0, 1.41176471, 3.29411765, 5.17647059)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """A dim smooth picture with a few lamps brighter than one."""
    height, width = SIZES[size]
    random = np.random.default_rng(seed)
    u, v = pixel_centres(height, width)
    scene = 0.6 * bilinear(smooth_texture(205, 64), u * 2, v * 2, wrap=True)
    for _ in range(6):
        middle_u, middle_v = random.uniform(0.1, 0.9, 2)
        lamp = np.exp(-((u - middle_u) ** 2 + (v - middle_v) ** 2) / 0.003)
        scene[..., :3] += 2.5 * lamp[..., None] * random.uniform(0.3, 1, 3)
    scene[..., 3] = 1
    return {"scene": scene.astype(np.float32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    """Each pass renders to a buffer that the next one reads as a texture."""

    def rendered(kernel: str, shape: tuple[int, int], *arguments: object) -> np.ndarray:
        height, width = shape
        out = gpu.array(np.zeros((height, width, 4), np.float32))
        grid = (-(-width // _BLOCK[0]), -(-height // _BLOCK[1]))
        gpu.launch(kernel, grid, _BLOCK, out, np.int32(width), np.int32(height), *arguments)
        return out.get()

    def as_texture(values: np.ndarray) -> object:
        return gpu.texture(values, linear=True, normalized=True)

    height, width = arrays["scene"].shape[:2]
    half = (height // 2, width // 2)
    scene = as_texture(arrays["scene"])
    glow = rendered("bright_pass", half, scene, _THRESHOLD, _KNEE)
    glow = rendered("blur", half, as_texture(glow), np.float32(1 / half[1]), np.float32(0))
    glow = rendered("blur", half, as_texture(glow), np.float32(0), np.float32(1 / half[0]))
    picture = rendered("combine", (height, width), scene, as_texture(glow), _STRENGTH, _EXPOSURE)
    return {"glow": glow, "picture": picture}


def _blurred(glow: np.ndarray, step_u: float, step_v: float) -> np.ndarray:
    u, v = pixel_centres(*glow.shape[:2])
    total = _SHARES[0] * bilinear(glow, u, v, wrap=False)
    for share, place in zip(_SHARES[1:], _PLACES[1:], strict=True):
        for side in (-place, place):
            total += share * bilinear(glow, u + side * step_u, v + side * step_v, wrap=False)
    return total


def reference(arrays: Arrays) -> Arrays:
    scene = arrays["scene"].astype(np.float64)[..., :3]
    height, width = scene.shape[:2]
    half_height, half_width = height // 2, width // 2
    u, v = pixel_centres(half_height, half_width)
    corners = [(a * 0.25 / half_width, b * 0.25 / half_height) for a in (-1, 1) for b in (-1, 1)]
    small = np.mean([bilinear(scene, u + du, v + dv, wrap=False) for du, dv in corners], axis=0)
    above = np.clip((small @ np.array([0.2126, 0.7152, 0.0722]) - float(_THRESHOLD)) / float(_KNEE), 0, 1)
    glow = small * (above**2 * (3 - 2 * above))[..., None]
    glow = _blurred(_blurred(glow, 1 / half_width, 0), 0, 1 / half_height)
    lit = scene + float(_STRENGTH) * bilinear(glow, *pixel_centres(height, width), wrap=False)
    toned = 1 - np.exp(-float(_EXPOSURE) * lit)
    results = {"glow": glow, "picture": toned}
    return {
        name: np.pad(values, ((0, 0), (0, 0), (0, 1)), constant_values=1).astype(np.float32) for name, values in results.items()
    }
