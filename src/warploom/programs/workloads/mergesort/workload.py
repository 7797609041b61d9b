"""Merge sort of key-value pairs by binary-search ranks.

Like the CUDA SDK's mergeSort.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 15
_THREADS = 256  # also the pairs of a tile
SIZES = Sizes(tiny=7, small=96, paper=512)  # tiles


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """Keys from a range half as long as the array, so that equal keys occur and the order of their values matters."""
    length = SIZES[size] * _THREADS
    keys = np.random.default_rng(seed).integers(0, length // 2, length).astype(np.uint32)
    return {"keys": keys, "values": np.arange(length, dtype=np.uint32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    length = len(arrays["keys"])
    keys, values = gpu.array(arrays["keys"]), gpu.array(arrays["values"])
    other_keys, other_values = (gpu.array(np.zeros(length, np.uint32)) for _ in range(2))
    gpu.launch("sort_tiles", (length // _THREADS,), (_THREADS,), keys, values)
    run = _THREADS
    while run < length:
        extent = (np.uint32(length), np.uint32(run))
        gpu.launch("merge_runs", (length // _THREADS,), (_THREADS,), keys, values, other_keys, other_values, *extent)
        keys, values, other_keys, other_values = other_keys, other_values, keys, values
        run *= 2
    return {"keys": keys.get(), "values": values.get()}


def reference(arrays: Arrays) -> Arrays:
    order = np.argsort(arrays["keys"], kind="stable")
    return {"keys": arrays["keys"][order], "values": arrays["values"][order]}
