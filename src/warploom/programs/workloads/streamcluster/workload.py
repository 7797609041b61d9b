"""Clustering of points by local search: what opening a centre would gain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 19
THREADS = 512
# Points, dimensions, candidates tried; the tiny size's last CTA is not full.
SIZES = Sizes(tiny=(1900, 16, 3), small=(15_360, 32, 4), paper=(65_536, 64, 6), chip=(196_608, 64, 6))
TOLERANCE = {"gains": (1e-4, 1e-2)}
GROUPS, OPENING_COST = 5, 60.0

# For a candidate and the present state: whether each point would switch, and the sum of every column of shares.
Step = Callable[[int, np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]


def inputs(size: Size, seed: int = SEED) -> Arrays:
    points, dimensions, candidates = SIZES[size]
    random = np.random.default_rng(seed)
    middles = random.uniform(0, 1, (GROUPS, dimensions))
    group = random.integers(0, GROUPS, points)
    return {
        "points": (middles[group] + random.normal(0, 0.05, (points, dimensions))).astype(np.float32),
        "weights": random.uniform(0.5, 1.5, points).astype(np.float32),
        "candidates": random.choice(points, candidates, replace=False).astype(np.int32),
    }


def local_search(arrays: Arrays, step: Step) -> Arrays:
    """Try the candidates one after the other; open those that lower the total cost and close the centres that they replace."""
    points, weights = arrays["points"].astype(np.float64), arrays["weights"].astype(np.float64)

    def distances(centre: int) -> np.ndarray:
        return (((points - points[centre]) ** 2).sum(axis=1) * weights).astype(np.float32)

    centres = [0]
    slot = np.zeros(len(points), np.int32)
    cost = distances(0)
    gains = []
    for candidate in arrays["candidates"].tolist():
        switch, shares = step(candidate, cost, slot, len(centres))
        # A centre whose members lose less than an open centre costs is closed, and its members go to the candidate.
        closing = np.flatnonzero(shares[:-1] + OPENING_COST > 0)
        gain = -OPENING_COST - shares[-1] + (shares[closing] + OPENING_COST).sum()
        gains.append(gain)
        if gain <= 0:
            continue
        moves = (switch != 0) | np.isin(slot, closing)
        kept = [centre for k, centre in enumerate(centres) if k not in closing]
        renumbered = np.cumsum(~np.isin(np.arange(len(centres)), closing)) - 1
        slot = np.where(moves, len(kept), renumbered[slot]).astype(np.int32)
        cost = np.where(moves, distances(candidate), cost)
        centres = [*kept, candidate]
    return {"centres": np.array(centres, np.int32), "slots": slot, "gains": np.array(gains, np.float32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    count, dimensions = arrays["points"].shape
    coordinates, weights = gpu.array(arrays["points"].T), gpu.array(arrays["weights"])

    def step(candidate: int, cost: np.ndarray, slot: np.ndarray, centres: int) -> tuple[np.ndarray, np.ndarray]:
        switches = gpu.array(np.zeros(count, np.uint8))
        shares = gpu.array(np.zeros((count, centres + 1), np.float32))
        state = (gpu.array(cost), gpu.array(slot), switches, shares)
        sizes = (np.int32(count), np.int32(dimensions), np.int32(candidate), np.int32(centres))
        grid = (-(-count // THREADS),)
        gpu.launch("gains", grid, (THREADS,), coordinates, weights, *state, *sizes, shared_bytes=4 * dimensions)
        return switches.get(), shares.get().sum(axis=0, dtype=np.float64)

    return local_search(arrays, step)


def reference(arrays: Arrays) -> Arrays:
    points, weights = arrays["points"].astype(np.float64), arrays["weights"].astype(np.float64)

    def step(candidate: int, cost: np.ndarray, slot: np.ndarray, centres: int) -> tuple[np.ndarray, np.ndarray]:
        saving = ((points - points[candidate]) ** 2).sum(axis=1) * weights - cost
        switch = saving < 0
        shares = np.zeros(centres + 1)
        np.add.at(shares, np.where(switch, centres, slot), np.where(switch, saving, -saving))
        return switch, shares

    return local_search(arrays, step)
