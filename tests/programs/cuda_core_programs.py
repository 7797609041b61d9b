"""A host program with cuda-python: compiles a kernel, launches it in a stream and from a graph, and compares with NumPy."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void add(const float* a, const float* b, float* c, size_t n) {
    size_t i = threadIdx.x + blockIdx.x * (size_t)blockDim.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""
COUNT = 1000


def _check(answer: tuple[Any, ...]) -> None:
    assert answer[0] == driver.CUresult.CUDA_SUCCESS, answer


def main() -> None:
    """Everything once."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    print("device", tuple(device.compute_capability))
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("add")
    rng, how = np.random.default_rng(0), LaunchConfig(grid=8, block=128)
    given, out = [rng.random(COUNT, np.float32) for _ in range(2)], np.empty(COUNT, np.float32)
    a, b, c = (device.allocate(out.nbytes, stream=stream) for _ in range(3))

    def result() -> np.ndarray:
        _check(driver.cuMemcpyDtoHAsync(out.ctypes.data, int(c.handle), out.nbytes, stream.handle))
        stream.sync()
        return out

    for values, buffer in zip(given, (a, b), strict=True):
        _check(driver.cuMemcpyHtoDAsync(int(buffer.handle), values.ctypes.data, values.nbytes, stream.handle))
    launch(stream, how, kernel, a, b, c, ctypes.c_size_t(COUNT))
    expected = given[0] + given[1]
    print("stream", np.array_equal(result(), expected))
    builder = device.create_graph_builder()
    builder.begin_building()
    launch(builder, how, kernel, a, c, c, ctypes.c_size_t(COUNT))
    graph = builder.end_building().complete()
    for _ in range(2):
        graph.launch(stream)
        expected = given[0] + expected
    print("graph", np.array_equal(result(), expected))


if __name__ == "__main__":
    main()
