"""How fast the emulator is: a tiled matrix product of 512 x 512, from PTX and in machine code, with and without its trace."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np

from warploom.compiler.code.instruction import Code
from warploom.compiler.sass.module import from_ptx
from warploom.compiler.sass.toolchain import is_installed
from warploom.emulator.shape import LaunchShape
from warploom.emulator.trace.store import TraceStore
from warploom.programs.device import Device

SIZE, TILE = 512, 16
REPEATS = 3
ARCHITECTURE = "sm_90"


def in_machine_code(ptx: str) -> Callable[[str, LaunchShape], Code]:
    """What gives the kernels of PTX in machine code."""
    module = from_ptx(ptx, "matrixmul/kernel.ptx", ARCHITECTURE)
    return lambda kernel, _shape: module.kernel(kernel)


def bench_emulator() -> dict[str, dict[str, float]]:
    """Warp instructions per second of processor time on one core, after warm-up; the best of a few runs."""
    ptx = (resources.files("warploom.programs.workloads") / "matrixmul" / "kernel.ptx").read_text()
    random = np.random.default_rng(1)
    a, b = (random.uniform(-1, 1, (SIZE, SIZE)).astype(np.float32) for _ in range(2))
    results = {}
    sources: dict[str, Any] = {"matmul 512": ptx}
    if is_installed():
        sources[f"matmul 512, {ARCHITECTURE}"] = in_machine_code(ptx)
    for name, source, traced in (
        (f"{what}{word}", made, bool(word)) for what, made in sources.items() for word in ("", ", traced")
    ):
        best = 0.0
        for _ in range(REPEATS + 1):  # the first run warms up
            with tempfile.TemporaryDirectory() as folder:
                device = Device(source, record=TraceStore(folder) if traced else None)
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
