"""Copies of many bytes (cp.async.bulk) and barriers that count them: latency by size, bandwidth; the kernels are in bulk.cu."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from warploom.studies.validate.benchmark import Microbenchmark
from warploom_lab.microbenchmarks.steps import KB, SMS, STEPS, per_step

SIZES = {"16B": 16, "128B": 128, "512B": 512} | {f"{size}KB": size * KB for size in (1, 2, 4, 8, 16, 32)}
COPIES = ((1, 1), (1, 4), (1, 16), (4, 4), (4, 16), (16, 2), (16, 4), (32, 2), (32, 4))
FLOODS = {f"{size}KBx{depth}": (size * KB, depth) for size, depth in COPIES}  # bytes of a copy, copies under way
LENGTHS = 32, 160


_per_step = functools.partial(per_step, "bulk.cu", lengths=LENGTHS)


def _source(size: int, grid: int, again: bool) -> tuple[tuple[str, Any], ...]:
    """Memory, bytes, step, span and distance of CTAs: the same bytes again and again, or always further ones."""
    step = 0 if again else size
    span = max(size, step * (LENGTHS[1] + 32))
    return ("zeros", span * grid), ("u32", size), ("u32", step), ("u32", span), ("u32", span)


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for name, size in SIZES.items():
        shared = max(size, 128)
        what = f"cycles of a copy of {name} to shared memory that is waited for, the same bytes in L2 again and again"
        yield _per_step(f"bulk.latency.{name}", "bulk_chain", what, *_source(size, 1, again=True), STEPS, shared_bytes=shared)
        for whole, until in ((0, "its bytes are read"), (1, "it is done")):
            what = f"cycles of a copy of {name} from shared memory to the same place in L2, until {until}"
            yield _per_step(
                f"bulk.store.{'done' if whole else 'read'}.{name}",
                "bulk_store",
                what,
                *_source(size, 1, again=True),
                STEPS,
                ("u32", whole),
                shared_bytes=shared,
            )
    for name, (size, depth) in FLOODS.items():
        for grid in (1, SMS):
            what = f"cycles of an SM for each of the copies {name} under way, the same bytes in L2 again and again, {grid} SMs"
            given = _source(size, grid, again=True)
            yield _per_step(
                f"bulk.flood.{name}.{grid}sm", "bulk_flood", what, *given, STEPS, ("u32", depth), grid=grid, shared_bytes=size
            )
    for name, size in (("4KB", 4 * KB), ("16KB", 16 * KB)):
        what = f"cycles of an SM for each of 4 copies of {name} under way on {SMS} SMs, always further bytes"
        given = _source(size, SMS, again=False)
        stream = f"bulk.stream.{name}.{SMS}sm"  # too much memory to be simulated
        yield _per_step(stream, "bulk_flood", what, *given, STEPS, ("u32", 4), grid=SMS, shared_bytes=size, modelled=False)
    what = "cycles of an arrival at an mbarrier and a wait for the phase that it has ended, by one lane"
    yield _per_step("mbarrier.alone", "barrier_alone", what, ("zeros", 128), ("u32", 0), STEPS, shared_bytes=128)
    what = "cycles in which each of two warps arrives at an mbarrier once and waits for the other's"
    yield _per_step("mbarrier.turns", "barrier_turns", what, STEPS, block=64)
