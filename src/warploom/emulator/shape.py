"""The shape of a launch: how many CTAs of how many threads, and what shared memory it asks for beyond the kernel's own."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warploom.base.errors import WarploomError
from warploom.compiler.code.lanes import LANES
from warploom.emulator.extents import Shape, extent_problem


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """What is known of a launch before its code is compiled."""

    grid: Shape
    block: Shape
    dynamic_shared_bytes: int = 0
    cluster: Shape | None = None  # blocks of a cluster, where the launch says it and not the kernel

    @property
    def ctas(self) -> int:
        return math.prod(self.grid)

    @property
    def threads(self) -> int:
        """The number of threads of a CTA."""
        return math.prod(self.block)

    @property
    def warps_per_cta(self) -> int:
        return -(-self.threads // LANES)


USUAL_SHAPE = LaunchShape((1, 1, 1), (256, 1, 1))
"""Where no launch says it."""


def launch_shape(
    kernel: str,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    dynamic_shared_bytes: int = 0,
    cluster: tuple[int, ...] | None = None,
) -> LaunchShape:
    """The shape that a host program asks for: one to three numbers each, within CUDA's limits."""
    together = None if cluster is None else _whole(kernel, "cluster", cluster)
    return LaunchShape(_whole(kernel, "grid", grid), _whole(kernel, "block", block), dynamic_shared_bytes, together)


def _whole(kernel: str, what: str, shape: tuple[int, ...]) -> Shape:
    numbers = tuple(int(n) for n in shape)
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1:
        raise WarploomError(f"{kernel}: the {what} {shape} must be one to three positive numbers.")
    x, y, z = (*numbers, 1, 1)[:3]
    problem = extent_problem(what, (x, y, z))
    if problem:
        raise WarploomError(f"{kernel}: {problem}.")
    return x, y, z
