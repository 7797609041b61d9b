"""Radix sort of key-value pairs, four bits a pass.

Like the CUDA SDK's radixSort.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 33
_THREADS, _TILE, _DIGITS, _DIGIT_BITS = 256, 2048, 16, 4
SIZES = Sizes(tiny=(6, 4), small=(90, 8), paper=(128, 32), chip=(512, 32))  # tiles, bits of a key


def inputs(size: Size, seed: int = SEED) -> Arrays:
    tiles, bits = SIZES[size]
    random = np.random.default_rng(seed)
    keys = random.integers(0, 2**bits, tiles * _TILE, dtype=np.uint64).astype(np.uint32)
    return {"keys": keys, "values": np.arange(len(keys), dtype=np.uint32), "bits": np.array(bits, np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    """One pass per four bits: sort the tiles, scan the counts, scatter."""
    length = len(arrays["keys"])
    tiles = length // _TILE
    keys, values = gpu.array(arrays["keys"]), gpu.array(arrays["values"])
    sorted_keys, sorted_values = (gpu.array(np.zeros(length, np.uint32)) for _ in range(2))
    counts, starts = (gpu.array(np.zeros((_DIGITS, tiles), np.uint32)) for _ in range(2))
    for first_bit in range(0, int(arrays["bits"]), _DIGIT_BITS):
        shift = np.uint32(first_bit)
        pairs = (keys, values, sorted_keys, sorted_values)
        gpu.launch("sort_tiles", (tiles,), (_THREADS,), *pairs, counts, starts, shift)
        gpu.launch("scan_counts", (1,), (_THREADS,), counts, np.uint32(_DIGITS * tiles))
        gpu.launch("scatter", (tiles,), (_THREADS,), sorted_keys, sorted_values, keys, values, counts, starts, shift)
    return {"keys": keys.get(), "values": values.get()}


def reference(arrays: Arrays) -> Arrays:
    order = np.argsort(arrays["keys"], kind="stable")
    return {"keys": arrays["keys"][order], "values": arrays["values"][order]}
