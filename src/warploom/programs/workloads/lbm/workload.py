"""Fluid flow by the lattice Boltzmann method with 19 directions."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 22
NX, NY, OMEGA = 120, 24, 1.2
SIZES = Sizes(tiny=(1, 1), small=(8, 2), paper=(40, 3))  # planes, time steps
TOLERANCE = {"fluid": (1e-5, 1e-6)}
VELOCITIES = np.array(
    [
        *[(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)],
        *[(1, 1, 0), (-1, -1, 0), (1, -1, 0), (-1, 1, 0), (1, 0, 1), (-1, 0, -1)],
        *[(1, 0, -1), (-1, 0, 1), (0, 1, 1), (0, -1, -1), (0, 1, -1), (0, -1, 1)],
    ]
)
OPPOSITE = np.array([int(np.flatnonzero((-e == VELOCITIES).all(axis=1))[0]) for e in VELOCITIES])
WEIGHTS = np.array([1 / 3, 1 / 18, 1 / 36])[np.abs(VELOCITIES).sum(axis=1)]


def equilibrium(density: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Densities by direction, for fields of density (cells) and velocity (3, cells)."""
    along = VELOCITIES @ velocity
    return WEIGHTS[:, None] * density * (1 + 3 * along + 4.5 * along**2 - 1.5 * (velocity**2).sum(axis=0))


def inputs(size: Size, seed: int = SEED) -> Arrays:
    planes, steps = SIZES[size]
    random = np.random.default_rng(seed)
    cells = (planes + 2) * NY * NX
    density = random.uniform(0.95, 1.05, cells)
    velocity = np.array([[0.05], [0.0], [0.02]]) + random.normal(0, 0.005, (3, cells))
    fluid = equilibrium(density, velocity).reshape(len(VELOCITIES), planes + 2, NY, NX).transpose(1, 0, 2, 3)
    solid = np.zeros((planes, NY, NX), np.uint8)
    solid[:, [0, -1]] = solid[:, :, [0, -1]] = 1
    solid |= random.uniform(size=solid.shape) < 0.02
    return {"fluid": fluid.astype(np.float32), "solid": solid, "steps": np.array(steps, np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    before, after = gpu.array(arrays["fluid"]), gpu.array(arrays["fluid"])
    solid = gpu.array(arrays["solid"])
    for _ in range(int(arrays["steps"])):
        gpu.launch("lbm", (NY, len(arrays["solid"])), (NX,), before, after, solid)
        before, after = after, before
    return {"fluid": before.get()}


def reference(arrays: Arrays) -> Arrays:
    fluid = arrays["fluid"].astype(np.float64)
    solid = arrays["solid"].reshape(-1) != 0
    planes = len(arrays["solid"])
    z, y, x = np.unravel_index(np.arange(planes * NY * NX), (planes, NY, NX))
    directions = len(VELOCITIES)
    cell = (z + 1) * directions * NY * NX + y * NX + x
    for _ in range(int(arrays["steps"])):
        # As in the kernel, neighbours are constant distances away in the flat array; what lies beyond a wall does not matter.
        from_x, from_y, from_z = VELOCITIES.T
        distance = np.arange(directions) * NY * NX - from_x - from_y * NX - from_z * directions * NY * NX
        pulled = fluid.reshape(-1)[distance[:, None] + cell]
        density = pulled.sum(axis=0)
        relaxed = (1 - OMEGA) * pulled + OMEGA * equilibrium(density, VELOCITIES.T @ pulled / density)
        after = np.where(solid, pulled[OPPOSITE], relaxed)
        fluid = fluid.copy()
        fluid[1:-1] = after.reshape(directions, planes, NY, NX).transpose(1, 0, 2, 3)
    return {"fluid": fluid.astype(np.float32)}
