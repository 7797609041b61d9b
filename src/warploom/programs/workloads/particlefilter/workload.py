"""Particle filter that tracks a disk through noisy frames.

Like Rodinia's particlefilter.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 32
_THREADS = 512
# Particles, frames, side of a frame.
SIZES = Sizes(tiny=(1024, 2, 64), small=(23040, 2, 128), paper=(46080, 4, 128), chip=(138_240, 4, 128))
# A quantile that falls between two particles may draw either one: the track, a mean over all, moves by far less than this.
TOLERANCE = {"track": (0.0, 0.02), "first_weights": (1e-4, 1e-10)}
SHAPED = "one warp adds up the values of a CTA, sixteen a lane, all loads at once; Rodinia has a tree over all threads, in f64"
_DRIFT = (np.float32(1.0), np.float32(-2.0))
_SPREAD = np.float32(2.5)
_FIRST_QUANTILE = np.float32(0.37)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """Frames with a disk of 228 on a background of 100, moving by the expected drift, under noise."""
    particles, count, side = SIZES[size]
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:side, 0:side]
    frames = []
    for frame in range(1, count + 1):
        inside = (x - side / 2 - frame) ** 2 + (y - side / 2 + 2 * frame) ** 2 <= 16
        frames.append(np.where(inside, 228, 100) + random.normal(0, 5, (side, side)))
    disk = [(dx, dy) for dy in range(-2, 3) for dx in range(-2, 3) if 0 < dx * dx + dy * dy <= 4]
    return {
        "frames": np.array(frames, np.float32),
        "disk": np.array(disk, np.float32),
        "seed": random.integers(0, 2**32, particles, dtype=np.uint32),
        "start": np.array([side / 2, side / 2], np.float32),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    frames = arrays["frames"]
    height, width = frames.shape[1:]
    particles = len(arrays["seed"])
    ctas = -(-particles // _THREADS)
    disk, seed = gpu.array(arrays["disk"]), gpu.array(arrays["seed"])
    x, y = (gpu.array(np.full(particles, value, np.float32)) for value in arrays["start"])
    new_x, new_y = (gpu.array(np.zeros(particles, np.float32)) for _ in "xy")
    weight = gpu.array(np.full(particles, 1 / particles, np.float32))
    cumulative = gpu.array(np.zeros(particles, np.float32))
    partial, moments = gpu.array(np.zeros(ctas, np.float32)), gpu.array(np.zeros((ctas, 2), np.float32))
    count = np.int32(particles)
    track, first_weights = [], np.empty(0)
    for picture in frames:
        frame = gpu.array(picture)
        size = (np.int32(width), np.int32(height))
        points = (disk, np.int32(len(arrays["disk"])))
        state = (x, y, seed, weight, partial, count)
        gpu.launch("likelihood", (ctas,), (_THREADS,), frame, *size, *points, *state, *_DRIFT, _SPREAD)
        gpu.launch("normalise", (ctas,), (_THREADS,), partial, np.int32(ctas), x, y, weight, cumulative, moments, count)
        track.append(moments.get().sum(axis=0))
        if not len(first_weights):
            first_weights = weight.get()
        gpu.launch("resample", (ctas,), (_THREADS,), cumulative, x, y, new_x, new_y, weight, count, _FIRST_QUANTILE)
        x, y, new_x, new_y = new_x, new_y, x, y
    return {"track": np.array(track, np.float32), "first_weights": first_weights}


def _uniform(state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    state = state * np.uint32(1664525) + np.uint32(1013904223)
    return state, ((state >> np.uint32(8)) + 0.5) / 2.0**24


def reference(arrays: Arrays) -> Arrays:
    frames, disk = arrays["frames"].astype(np.float64), arrays["disk"].astype(np.float64)
    limit_y, limit_x = (extent - 1.001 for extent in frames.shape[1:])
    state = arrays["seed"]
    particles = len(state)
    x, y = (np.full(particles, float(value)) for value in arrays["start"])
    quantiles = (np.arange(particles) + float(_FIRST_QUANTILE)) / particles
    track, first_weights = [], np.empty(0)
    for frame in frames:
        state, u = _uniform(state)
        state, v = _uniform(state)
        radius = float(_SPREAD) * np.sqrt(-2 * np.log(u))
        x = np.clip(x + float(_DRIFT[0]) + radius * np.cos(2 * np.pi * v), 0, limit_x)
        y = np.clip(y + float(_DRIFT[1]) + radius * np.sin(2 * np.pi * v), 0, limit_y)
        sx = np.clip(x[:, None] + disk[:, 0], 0, limit_x)
        sy = np.clip(y[:, None] + disk[:, 1], 0, limit_y)
        column, row = sx.astype(int), sy.astype(int)
        fx, fy = sx - column, sy - row
        upper = frame[row, column] * (1 - fx) + frame[row, column + 1] * fx
        lower = frame[row + 1, column] * (1 - fx) + frame[row + 1, column + 1] * fx
        value = upper * (1 - fy) + lower * fy
        weight = np.exp((((value - 100) ** 2 - (value - 228) ** 2) / 5000).mean(axis=1))
        weight /= weight.sum()
        track.append((weight @ x, weight @ y))
        if not len(first_weights):
            first_weights = weight
        drawn = np.minimum(np.searchsorted(np.cumsum(weight), quantiles), particles - 1)
        x, y = x[drawn], y[drawn]
    return {"track": np.array(track, np.float32), "first_weights": first_weights.astype(np.float32)}
