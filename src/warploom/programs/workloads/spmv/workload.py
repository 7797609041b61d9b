"""Sparse matrix times vector in jagged diagonal storage.

Like Parboil's spmv.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 16
_THREADS = 192
SIZES = Sizes(tiny=6000, small=60000, paper=146689)  # the vector of `small` is 15 times an L1 of 16 KB
TOLERANCE = {"y": (1e-6, 2e-6)}
SHAPED = "four entries of a row at a time, so that their gathers overlap; Parboil prefetches the next entry"


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """A random matrix with 2 to 33 entries a row (long rows are rare), columns all over the vector."""
    rows = SIZES[size]
    random = np.random.default_rng(seed)
    length = np.minimum(2 + random.geometric(0.12, rows), 33).astype(np.int32)
    row_of = np.argsort(-length, kind="stable").astype(np.int32)
    length = length[row_of]
    rows_per_diagonal = (length[None, :] > np.arange(length[0])[:, None]).sum(axis=1)
    diagonal = np.concatenate(([0], np.cumsum(rows_per_diagonal)))
    entries = int(diagonal[-1])
    return {
        "value": random.uniform(-1, 1, entries).astype(np.float32),
        "column": random.integers(0, rows, entries).astype(np.int32),
        "diagonal": diagonal[:-1].astype(np.int32),
        "length": length,
        "row_of": row_of,
        "x": random.uniform(0, 1, rows).astype(np.float32),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    rows = len(arrays["x"])
    matrix = [gpu.array(arrays[name]) for name in ("value", "column", "diagonal", "length", "row_of", "x")]
    y = gpu.array(np.zeros(rows, np.float32))
    gpu.launch("spmv_jds", (-(-rows // _THREADS),), (_THREADS,), *matrix, y, np.int32(rows))
    return {"y": y.get()}


def reference(arrays: Arrays) -> Arrays:
    length, diagonal = arrays["length"], arrays["diagonal"]
    products = arrays["value"].astype(np.float64) * arrays["x"][arrays["column"]]
    y = np.zeros(len(length))
    for entry, start in enumerate(diagonal):
        rows = int((length > entry).sum())
        y[:rows] += products[start : start + rows]
    result = np.zeros(len(length), np.float32)
    result[arrays["row_of"]] = y
    return {"y": result}
