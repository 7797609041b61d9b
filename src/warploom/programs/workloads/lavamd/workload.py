"""Forces among particles in neighbouring boxes of space.

Like Rodinia's lavaMD.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 37
_THREADS, _PARTICLES = 128, 100
SIZES = Sizes(tiny=(2, 1, 1), small=(75, 1, 1), paper=(4, 4, 4), chip=(6, 6, 6))  # boxes along x, y, z
TOLERANCE = {"force": (1e-5, 2e-3)}
SHAPED = "half of the warps bring three neighbouring boxes at a time, all loads at once; Rodinia brings one box at a time"
_ALPHA = 0.5


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """Particles uniform in unit boxes; the list of a box starts with itself."""
    extent = SIZES[size]
    random = np.random.default_rng(seed)
    boxes = np.array(list(np.ndindex(*extent)))
    particles = np.empty((len(boxes), _PARTICLES, 4), np.float32)
    particles[..., :3] = boxes[:, None, :] + random.uniform(0, 1, (len(boxes), _PARTICLES, 3))
    particles[..., 3] = random.uniform(0.1, 1, (len(boxes), _PARTICLES))  # charges
    neighbours = np.zeros((len(boxes), 28), np.int32)
    for number, box in enumerate(boxes):
        near = [other for other, place in enumerate(boxes) if np.abs(place - box).max() == 1]
        neighbours[number, 0] = 1 + len(near)
        neighbours[number, 1 : 2 + len(near)] = [number, *near]
    return {"neighbours": neighbours, "particles": particles}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    neighbours, particles = gpu.array(arrays["neighbours"]), gpu.array(arrays["particles"])
    force = gpu.array(np.zeros_like(arrays["particles"]))
    boxes = len(arrays["neighbours"])
    gpu.launch("lavamd", (boxes,), (_THREADS,), neighbours, particles, force, np.float32(_ALPHA**2))
    return {"force": force.get()}


def reference(arrays: Arrays) -> Arrays:
    position, charge = np.split(arrays["particles"].astype(np.float64), [3], axis=-1)
    force = np.zeros(arrays["particles"].shape)
    for box, (count, *near) in enumerate(arrays["neighbours"]):
        for other in near[:count]:
            away = position[box][:, None, :] - position[other][None, :, :]
            potential = charge[other, :, 0] * np.exp(-(_ALPHA**2) * (away**2).sum(axis=-1))
            force[box, :, 3] += potential.sum(axis=1)
            force[box, :, :3] += 2 * (potential[..., None] * away).sum(axis=1)
    return {"force": force.astype(np.float32)}
