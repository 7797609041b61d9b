"""Global alignment of two sequences by Needleman and Wunsch, 16 threads a CTA."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 21
TILE, PENALTY, LETTERS = 16, 10, 24
SIZES = Sizes(tiny=80, small=512, paper=2048, chip=4224)  # letters of a sequence


def inputs(size: Size, seed: int = SEED) -> Arrays:
    n = SIZES[size]
    random = np.random.default_rng(seed)
    # A symmetric substitution table in the range of those for proteins, matches scoring best.
    table = random.integers(-4, 4, (LETTERS, LETTERS))
    table = np.minimum(table, table.T)
    np.fill_diagonal(table, random.integers(4, 12, LETTERS))
    first, second = random.integers(0, LETTERS, (2, n))
    similarity = np.zeros((n + 1, n + 1), np.int32)
    similarity[1:, 1:] = table[first[:, None], second]
    return {"similarity": similarity}


def borders(n: int) -> np.ndarray:
    """The table before it is filled: the first row and column hold gaps alone."""
    scores = np.zeros((n + 1, n + 1), np.int32)
    scores[0] = scores[:, 0] = -PENALTY * np.arange(n + 1)
    return scores


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    n = len(arrays["similarity"]) - 1
    tiles = n // TILE
    arguments = (gpu.array(arrays["similarity"]), gpu.array(borders(n)), np.int32(n + 1), np.int32(PENALTY))
    for diagonal in range(tiles):
        gpu.launch("upper_left", (diagonal + 1,), (TILE,), *arguments, np.int32(diagonal))
    for diagonal in range(tiles, 2 * tiles - 1):
        gpu.launch("lower_right", (2 * tiles - 1 - diagonal,), (TILE,), *arguments, np.int32(diagonal), np.int32(tiles))
    return {"scores": arguments[1].get()}


def reference(arrays: Arrays) -> Arrays:
    similarity = arrays["similarity"]
    n = len(similarity) - 1
    scores = borders(n)
    for diagonal in range(2, 2 * n + 1):
        i = np.arange(max(1, diagonal - n), min(n, diagonal - 1) + 1)
        j = diagonal - i
        gap = np.maximum(scores[i - 1, j], scores[i, j - 1]) - PENALTY
        scores[i, j] = np.maximum(scores[i - 1, j - 1] + similarity[i, j], gap)
    return {"scores": scores}
