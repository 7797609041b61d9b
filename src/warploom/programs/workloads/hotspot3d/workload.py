"""Heat conduction through a stack of chip layers, seven-point stencil.

Like Rodinia's hotspot3D.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 3
_BLOCK = (64, 4)
SIZES = Sizes(tiny=(4, 32, 128, 2), small=(8, 256, 256, 2), paper=(8, 512, 512, 4))
TOLERANCE = {"temperature": (2e-6, 0.0)}
SHAPED = "half of the warps bring the power of all to shared memory, all loads at once; Rodinia loads it where it is used"
_AMBIENT = np.float32(80.0)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    layers, height, width, steps = SIZES[size]
    random = np.random.default_rng(seed)
    power = np.zeros((layers, height, width), np.float32)
    power[:, height // 4 : height // 2, width // 4 : width // 2] = 0.05  # a busy unit
    power += random.uniform(0, 0.004, power.shape).astype(np.float32)
    temperature = (_AMBIENT + random.uniform(0, 5, power.shape)).astype(np.float32)
    return {"power": power, "temperature": temperature, "steps": np.array(steps, np.int32)}


def _coefficients() -> tuple[np.float32, ...]:
    """Shares of the neighbours in x, y and z, of the cell itself, and of its power, in one step of a stable length."""
    across_x, across_y, across_z = np.float32(0.06), np.float32(0.055), np.float32(0.02)
    # The bottom and top of the stack also lose heat to the ambient: one share of z goes there.
    centre = np.float32(1) - 2 * across_x - 2 * across_y - 3 * across_z
    return across_x, across_y, across_z, centre, np.float32(1.5)


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    layers, height, width = arrays["power"].shape
    power, now, then = gpu.array(arrays["power"]), gpu.array(arrays["temperature"]), gpu.array(np.zeros_like(arrays["power"]))
    grid = (-(-width // _BLOCK[0]), -(-height // _BLOCK[1]))
    extent = (np.int32(width), np.int32(height), np.int32(layers))
    for _ in range(int(arrays["steps"])):
        gpu.launch("hotspot3d", grid, _BLOCK, power, now, then, *extent, *_coefficients(), _AMBIENT)
        now, then = then, now
    return {"temperature": now.get()}


def reference(arrays: Arrays) -> Arrays:
    across_x, across_y, across_z, centre, step = (float(value) for value in _coefficients())
    now = arrays["temperature"].astype(np.float64)
    for _ in range(int(arrays["steps"])):
        edge = np.pad(now, 1, mode="edge")
        z = edge[:-2, 1:-1, 1:-1] + edge[2:, 1:-1, 1:-1]
        y = edge[1:-1, :-2, 1:-1] + edge[1:-1, 2:, 1:-1]
        x = edge[1:-1, 1:-1, :-2] + edge[1:-1, 1:-1, 2:]
        now = centre * now + across_x * x + across_y * y + across_z * (z + float(_AMBIENT)) + step * arrays["power"]
    return {"temperature": now.astype(np.float32)}
