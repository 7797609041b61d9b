"""A host program with numba-cuda: prints one line for each of its parts, with whether it agrees with NumPy."""

from __future__ import annotations

import numpy as np
from numba import cuda


@cuda.jit
def _axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def _sum(x, out):
    parts = cuda.shared.array(128, np.float32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    parts[thread] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    half = 64
    while half:
        if thread < half:
            parts[thread] += parts[thread + half]
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        cuda.atomic.add(out, 0, parts[0])


@cuda.reduce
def _reduce(a, b):
    return a + b


def main() -> None:
    """Everything once."""
    x, ones = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    there, result = cuda.to_device(x, stream=stream), cuda.to_device(ones, stream=stream)
    start.record(stream)
    _axpy[8, 128, stream](np.float32(2), there, result)
    end.record(stream)
    end.synchronize()
    print("stream", np.array_equal(result.copy_to_host(stream=stream), 2 * x + 1), cuda.event_elapsed_time(start, end) > 0)
    out = cuda.to_device(np.zeros(1, np.float32))
    _sum[8, 128](there, out)
    print("atomics", out.copy_to_host()[0] == x.sum())
    print("reduce", _reduce(there) == x.sum())
    for kind in (cuda.mapped_array, cuda.managed_array):
        shared = kind(4, dtype=np.float32)
        shared[:] = 1
        _axpy[1, 32](np.float32(1), shared, shared)
        cuda.synchronize()
        print(kind.__name__, shared.tolist())
    print("device", cuda.get_current_device().compute_capability)


if __name__ == "__main__":
    main()
