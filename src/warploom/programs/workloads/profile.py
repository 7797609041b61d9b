"""What a program does, counted from its traces: the columns of ``warploom workloads``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from warploom.compiler.code.instruction import Code
    from warploom.emulator.trace.format import Trace


def profile(launches: Sequence[tuple[Code, Trace]]) -> dict[str, Any]:
    """CTAs, threads, registers and shared memory of the busiest kernel; instructions and divergence over all launches."""
    work: dict[str, int] = {}
    for code, trace in launches:
        work[code.name] = work.get(code.name, 0) + trace.warp_instructions
    main = max(work, key=lambda name: work[name])
    code, trace = next((code, trace) for code, trace in launches if code.name == main)
    instructions = sum(work.values())
    lanes = divergent = 0
    for _, each in launches:
        active = np.bitwise_count(each.mask)
        lanes += int(active.sum(dtype=np.int64))
        divergent += int(np.count_nonzero(active < _lanes_of_warps(each)))
    return {
        "kernel": main,
        "launches": len(launches),
        "ctas": max(each.ctas for kernel, each in launches if kernel.name == main),
        "threads_per_cta": trace.block[0] * trace.block[1] * trace.block[2],
        "registers": code.registers,
        "shared_bytes": code.shared_bytes,
        "warp_instructions": instructions,
        "divergent_share": divergent / instructions if instructions else 0.0,
        "average_active_lanes": lanes / instructions if instructions else 0.0,
    }


def _lanes_of_warps(trace: Trace) -> np.ndarray:
    """For each dynamic instruction, the lanes that its warp was launched with: the last warp of a CTA may be partial."""
    threads = trace.block[0] * trace.block[1] * trace.block[2]
    in_cta = np.minimum(32, threads - 32 * np.arange(trace.warps_per_cta))
    warps = np.tile(in_cta, trace.ctas).astype(np.uint8)
    return np.repeat(warps, np.diff(trace.start["instruction"]))
