"""Microbenchmarks: small kernels that reveal one number of a chip each."""

from __future__ import annotations

from collections.abc import Iterator

from warploom.validation.microbenchmarks import branches, caches, chip, latencies, memory, pipes, queues, registers, textures
from warploom.validation.microbenchmarks.benchmark import Launch, Microbenchmark, ModelRun, Outputs, Reading

__all__ = ["Launch", "Microbenchmark", "ModelRun", "Outputs", "Reading", "all_microbenchmarks"]


def all_microbenchmarks() -> Iterator[Microbenchmark]:
    """Every microbenchmark of the project."""
    for group in (registers, pipes, latencies, queues, branches, caches, memory, chip, textures):
        yield from group.benchmarks()
