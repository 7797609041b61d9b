"""Inputs, launches and reference of nbody."""

from __future__ import annotations

import numpy as np

from warploom.workloads.workload import Arrays, Gpu, Size, Workload

SEED = 6
_THREADS = 128
_SIZES = {"tiny": (384, 1), "small": (1920, 1), "paper": (3840, 2)}  # bodies, steps
_SOFTENING_SQUARED, _STEP = np.float32(0.01), np.float32(0.02)


def _inputs(size: Size, seed: int = SEED) -> Arrays:
    bodies, steps = _SIZES[size]
    random = np.random.default_rng(seed)
    position = random.normal(0, 1, (bodies, 4)).astype(np.float32)
    position[:, 3] = random.uniform(0.5, 1.5, bodies) / bodies  # masses
    velocity = np.zeros((bodies, 4), np.float32)
    velocity[:, :3] = random.normal(0, 0.1, (bodies, 3))
    return {"position": position, "velocity": velocity, "steps": np.array(steps, np.int32)}


def _host(gpu: Gpu, arrays: Arrays) -> Arrays:
    bodies = len(arrays["position"])
    now, then = gpu.array(arrays["position"]), gpu.array(np.zeros((bodies, 4), np.float32))
    velocity = gpu.array(arrays["velocity"])
    for _ in range(int(arrays["steps"])):
        state = (now, then, velocity, np.int32(bodies), _SOFTENING_SQUARED, _STEP)
        gpu.launch("nbody_step", (bodies // _THREADS,), (_THREADS,), *state)
        now, then = then, now
    return {"position": now.get(), "velocity": velocity.get()}


def _reference(arrays: Arrays) -> Arrays:
    position, velocity = arrays["position"].astype(np.float64), arrays["velocity"].astype(np.float64)
    softening, step = float(_SOFTENING_SQUARED), float(_STEP)
    for _ in range(int(arrays["steps"])):
        where, mass = position[:, :3], position[:, 3]
        pull = np.empty_like(where)
        for start in range(0, len(where), _THREADS):
            part = slice(start, start + _THREADS)
            away = where[None, :, :] - where[part, None, :]
            strength = mass / ((away**2).sum(axis=-1) + softening) ** 1.5
            pull[part] = (away * strength[..., None]).sum(axis=1)
        velocity[:, :3] += pull * step
        position[:, :3] += velocity[:, :3] * step
    return {"position": position.astype(np.float32), "velocity": velocity.astype(np.float32)}


WORKLOAD = Workload(
    name="nbody",
    title="Gravitation among all pairs of bodies",
    seed=SEED,
    inputs=_inputs,
    host=_host,
    reference=_reference,
    tolerance={"position": (1e-5, 1e-6), "velocity": (1e-5, 1e-6)},
)
