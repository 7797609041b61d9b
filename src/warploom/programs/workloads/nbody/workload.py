"""Gravitation among all pairs of bodies.

Like the CUDA SDK's nbody.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 6
_THREADS = 128
# Bodies, how many of them have a mass, steps.
SIZES = Sizes(tiny=(384, 384, 1), small=(1920, 1920, 1), paper=(3840, 3840, 2), chip=(33_792, 2048, 1))
TOLERANCE = {"position": (1e-5, 1e-6), "velocity": (1e-5, 1e-6)}
_SOFTENING_SQUARED, _STEP = np.float32(0.01), np.float32(0.02)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    bodies, massive, steps = SIZES[size]
    random = np.random.default_rng(seed)
    position = random.normal(0, 1, (bodies, 4)).astype(np.float32)
    position[:, 3] = random.uniform(0.5, 1.5, bodies) / massive
    position[massive:, 3] = 0  # tracers: they feel the others and pull none
    velocity = np.zeros((bodies, 4), np.float32)
    velocity[:, :3] = random.normal(0, 0.1, (bodies, 3))
    return {"position": position, "velocity": velocity, "steps": np.array(steps, np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    bodies, massive = len(arrays["position"]), np.count_nonzero(arrays["position"][:, 3])
    now, then = gpu.array(arrays["position"]), gpu.array(np.zeros((bodies, 4), np.float32))
    velocity = gpu.array(arrays["velocity"])
    for _ in range(int(arrays["steps"])):
        state = (now, then, velocity, np.int32(massive), _SOFTENING_SQUARED, _STEP)
        gpu.launch("nbody_step", (bodies // _THREADS,), (_THREADS,), *state)
        now, then = then, now
    return {"position": now.get(), "velocity": velocity.get()}


def reference(arrays: Arrays) -> Arrays:
    position, velocity = arrays["position"].astype(np.float64), arrays["velocity"].astype(np.float64)
    massive = np.count_nonzero(position[:, 3])
    softening, step = float(_SOFTENING_SQUARED), float(_STEP)
    for _ in range(int(arrays["steps"])):
        where, mass = position[:, :3], position[:massive, 3]
        pull = np.empty_like(where)
        for start in range(0, len(where), _THREADS):
            part = slice(start, start + _THREADS)
            away = where[None, :massive, :] - where[part, None, :]
            strength = mass / ((away**2).sum(axis=-1) + softening) ** 1.5
            pull[part] = (away * strength[..., None]).sum(axis=1)
        velocity[:, :3] += pull * step
        position[:, :3] += velocity[:, :3] * step
    return {"position": position.astype(np.float32), "velocity": velocity.astype(np.float32)}
