"""Microbenchmarks: small kernels that reveal one number of a chip each."""

from __future__ import annotations

from collections.abc import Iterator

from warploom.studies.validate.benchmark import Launch, Microbenchmark, ModelRun, Outputs, Reading
from warploom_lab.microbenchmarks import (
    atomics,
    branches,
    bulk,
    caches,
    chip,
    clusters,
    constants,
    contended,
    flight,
    latencies,
    lost,
    memory,
    patterns,
    pipes,
    queues,
    registers,
    steady,
    textures,
    traffic,
    turns,
    warpgroups,
)

__all__ = ["Launch", "Microbenchmark", "ModelRun", "Outputs", "Reading", "all_microbenchmarks"]

_SUB_CORES = registers, steady, turns, lost, pipes, latencies, queues, branches, caches, warpgroups
_MEMORY = memory, constants, patterns, flight, atomics, contended, clusters, chip, textures, traffic, bulk


def all_microbenchmarks() -> Iterator[Microbenchmark]:
    """Every microbenchmark of the project."""
    for group in (*_SUB_CORES, *_MEMORY):
        yield from group.benchmarks()
