"""Histograms of the angles between points on a sphere.

Like Parboil's tpacf, a two-point angular correlation.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 28
_THREADS, _BINS = 256, 20
SIZES = Sizes(tiny=(96, 2), small=(192, 12), paper=(384, 30), chip=(256, 132))  # points in a set, random sets
SHAPED = "half of the warps bring the other set as a whole, all loads at once; Parboil brings tiles of a CTA's width"


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """Set 0 is clustered data, the others are uniform on the sphere; stored x, y and z apart."""
    points, random_sets = SIZES[size]
    random = np.random.default_rng(seed)
    position = random.normal(size=(random_sets + 1, 3, points))
    position[0] += 1.5 * random.normal(size=(3, 6))[:, random.integers(0, 6, points)]
    position /= np.linalg.norm(position, axis=1, keepdims=True)
    # Bins are narrow at small angles, from 3 degrees up; opposite pairs beyond 170 degrees are not counted.
    bounds = np.cos(np.radians(np.geomspace(3, 170, _BINS + 1)))
    return {"points": position.astype(np.float32), "bounds": bounds.astype(np.float32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    sets, _, points = arrays["points"].shape
    ctas = 2 * sets - 1
    histograms = gpu.array(np.zeros((ctas, _BINS), np.uint32))
    given, bounds = gpu.array(arrays["points"]), gpu.array(arrays["bounds"])
    gpu.launch("tpacf", (ctas,), (_THREADS,), given, np.int32(points), np.int32(sets - 1), bounds, histograms)
    return {"histograms": histograms.get()}


def _cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """All dot products, rounded as the kernel's fused operations round: each product is exact in double precision."""
    total = first[0][:, None] * second[0][None, :]
    for one, other in zip(first[1:], second[1:], strict=True):
        total = (one.astype(np.float64)[:, None] * other[None, :] + total).astype(np.float32)
    return total


def reference(arrays: Arrays) -> Arrays:
    points, bounds = arrays["points"], arrays["bounds"]
    sets = range(len(points))
    pairings = [(0, other) for other in sets] + [(other, other) for other in sets[1:]]
    histograms = np.zeros((len(pairings), _BINS), np.uint32)
    for row, (first, second) in enumerate(pairings):
        cosines = _cosines(points[first], points[second])
        cosines = cosines[np.triu_indices(len(cosines), 1)] if first == second else cosines.ravel()
        # The bounds fall: a cosine in bin b lies in [bounds[b + 1], bounds[b]).
        bins = len(bounds) - 1 - np.searchsorted(bounds[::-1], cosines, side="right")
        histograms[row] = np.bincount(bins[(bins >= 0) & (bins < _BINS)], minlength=_BINS)
    return {"histograms": histograms}
