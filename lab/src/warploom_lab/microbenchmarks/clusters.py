"""Clusters: barriers, other CTAs' shared memory and barriers, copies to several; the kernels are in clusters.cu."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from warploom.studies.validate.benchmark import Microbenchmark
from warploom_lab.microbenchmarks.steps import MB, SMS, STEPS, per_step

SIZES = (1, 2, 4, 8)
MOST = 8  # CTAs of a cluster without a special attribute
BYTES = (128, 1024, 8192)
FULL = SMS // MOST * MOST  # CTAs of a grid in which all clusters run at once

_per_step = functools.partial(per_step, "clusters.cu")


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them, for one cluster and for a chip full of clusters."""
    for size in SIZES:
        for warps in (1, 8):
            for grid in (size, FULL):
                yield _one("barrier", size, 1, warps, grid, "a barrier of the cluster", (32, 160))
    for away in range(MOST):
        yield _one("chase", MOST, away, 1, MOST, f"a load that needs the one before, {away} ranks away", (64, 320))
    for size in (2, 4, 8):
        yield _one("arrive", size, size - 1, 1, size, "an arrival at another CTA's barrier, there and back", (16, 80))
        for what in ("load", "load4", "store", "add"):
            for warps in (1, 8, 16):
                for grid in (size, FULL):
                    about = f"a {what} of each warp in the next CTA's shared memory"
                    yield _one(what, size, 1, warps, grid, about, (64, 320), shared_out=warps)
    for size in SIZES:
        for number in BYTES:
            for grid in (size, FULL):
                about = f"a copy of {number} bytes into all CTAs, with a barrier"
                yield _one("multicast", size, number, 1, grid, about, (16, 80))


def _one(
    what: str, size: int, given: int, warps: int, grid: int, about: str, lengths: tuple[int, int], shared_out: int = 1
) -> Microbenchmark:
    return _per_step(
        f"cluster.{what}.{size}.{given}.{warps}w.{grid}sm",
        f"{what}_{size}",
        f"cycles for {about}, clusters of {size}, {warps} warps of each of {grid} CTAs",
        ("zeros", 2 * MB),
        ("u32", given),
        STEPS,
        block=32 * warps,
        grid=grid,
        shared_out=shared_out,
        lengths=lengths,
    )
