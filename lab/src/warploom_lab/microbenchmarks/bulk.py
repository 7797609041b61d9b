"""Copies of many bytes (cp.async.bulk) and barriers that count them: latency by size, bandwidth; the kernels are in bulk.cu."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warploom.studies.validate.benchmark import Launch, Microbenchmark, ModelRun, Outputs, Reading

KB, MB = 1 << 10, 1 << 20
SMS = 132
SIZES = {
    "16B": 16,
    "128B": 128,
    "512B": 512,
    "1KB": KB,
    "2KB": 2 * KB,
    "4KB": 4 * KB,
    "8KB": 8 * KB,
    "16KB": 16 * KB,
    "32KB": 32 * KB,
}
FLOODS = {  # bytes of a copy, copies under way
    "1KBx1": (KB, 1),
    "1KBx4": (KB, 4),
    "1KBx16": (KB, 16),
    "4KBx4": (4 * KB, 4),
    "4KBx16": (4 * KB, 16),
    "16KBx2": (16 * KB, 2),
    "16KBx4": (16 * KB, 4),
    "32KBx2": (32 * KB, 2),
    "32KBx4": (32 * KB, 4),
}
LENGTHS = 32, 160


@functools.cache
def cubin() -> bytes:
    """The machine code of bulk.cu."""
    from warploom.compiler.sass.module import from_cuda

    source = Path(__file__).parent / "bulk.cu"
    return from_cuda(source.read_text(encoding="utf-8"), source.name, "sm_90a").make(None)


def _per_step(
    name: str,
    kernel: str,
    what: str,
    *arguments: tuple[str, Any],
    behind: tuple[tuple[str, Any], ...] = (),
    grid: int = 1,
    block: int = 32,
    shared_bytes: int = 0,
    modelled: bool = True,
) -> Microbenchmark:
    """Cycles for each step: the slowest CTA's time with many steps less that with few."""

    def launches() -> list[Launch]:
        return [
            Launch(
                f"{name}.{steps}",
                cubin(),
                grid,
                block,
                (("out", 2 * max(2, grid)), *arguments, ("u32", steps), *behind),
                kernel=kernel,
                shared_bytes=shared_bytes,
            )
            for steps in LENGTHS
        ]

    work = LENGTHS[1] - LENGTHS[0]

    def read(outputs: Outputs) -> list[Reading]:
        short, long = (outputs[f"{name}.{steps}"][:, ::2].max(axis=1).min() for steps in LENGTHS)
        return [Reading(name, float(int(long) - int(short)) / work, "cycles", what)]

    terms = ((1, f"{name}.{LENGTHS[1]}", None), (-1, f"{name}.{LENGTHS[0]}", None))
    return Microbenchmark(name, launches, read, ModelRun(name, terms, work) if modelled else None)


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
        yield _per_step(f"bulk.latency.{name}", "bulk_chain", what, *_source(size, 1, again=True), shared_bytes=shared)
        for whole, until in ((0, "its bytes are read"), (1, "it is done")):
            what = f"cycles of a copy of {name} from shared memory to the same place in L2, until {until}"
            yield _per_step(
                f"bulk.store.{'done' if whole else 'read'}.{name}",
                "bulk_store",
                what,
                *_source(size, 1, again=True),
                behind=(("u32", whole),),
                shared_bytes=shared,
            )
    for name, (size, depth) in FLOODS.items():
        for grid in (1, SMS):
            what = f"cycles of an SM for each of the copies {name} under way, the same bytes in L2 again and again, {grid} SMs"
            given = _source(size, grid, again=True)
            yield _per_step(
                f"bulk.flood.{name}.{grid}sm", "bulk_flood", what, *given, behind=(("u32", depth),), grid=grid, shared_bytes=size
            )
    for name, size in (("4KB", 4 * KB), ("16KB", 16 * KB)):
        what = f"cycles of an SM for each of 4 copies of {name} under way on {SMS} SMs, always further bytes"
        given = _source(size, SMS, again=False)
        stream = f"bulk.stream.{name}.{SMS}sm"  # too much memory to be simulated
        yield _per_step(stream, "bulk_flood", what, *given, behind=(("u32", 4),), grid=SMS, shared_bytes=size, modelled=False)
    what = "cycles of an arrival at an mbarrier and a wait for the phase that it has ended, by one lane"
    yield _per_step("mbarrier.alone", "barrier_alone", what, ("zeros", 128), ("u32", 0), shared_bytes=128)
    what = "cycles in which each of two warps arrives at an mbarrier once and waits for the other's"
    yield _per_step("mbarrier.turns", "barrier_turns", what, block=64)
