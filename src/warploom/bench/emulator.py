"""How fast the emulator is: a tiled matrix product of 512 x 512, with and without recording its trace."""

from __future__ import annotations

import tempfile
import time
from importlib import resources

import numpy as np

from warploom.programs.device import Device
from warploom.trace.store import TraceStore

SIZE, TILE = 512, 16
REPEATS = 3


def bench_emulator() -> dict[str, dict[str, float]]:
    """Warp instructions per second of processor time on one core, after warm-up; the best of a few runs."""
    ptx = (resources.files("warploom.workloads") / "matrixmul" / "kernel.ptx").read_text()
    random = np.random.default_rng(1)
    a, b = (random.uniform(-1, 1, (SIZE, SIZE)).astype(np.float32) for _ in range(2))
    results = {}
    for name, traced in (("matmul 512", False), ("matmul 512, traced", True)):
        best = 0.0
        for _ in range(REPEATS + 1):  # the first run warms up
            with tempfile.TemporaryDirectory() as folder:
                device = Device(ptx, record=TraceStore(folder) if traced else None)
                c = device.array(np.zeros((SIZE, SIZE), np.float32))
                arguments = (device.array(a), device.array(b), c, np.int32(SIZE), np.int32(SIZE))
                device.code("matrixmul")
                started = time.process_time()
                device.launch("matrixmul", (SIZE // TILE, SIZE // TILE), (TILE, TILE), *arguments)
                seconds = time.process_time() - started
                best = max(best, device.launches[0].stats.warp_instructions / seconds)
                np.testing.assert_allclose(c.get(), a @ b, rtol=1e-3, atol=1e-3)
        results[name] = {"warp_instructions_per_second": best}
    return results
