"""What a microbenchmark is: launches of small kernels, and how their outputs become one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Outputs = Mapping[str, np.ndarray]  # by the launch's name: words of the output, one row for each repetition
WARP_WORDS = 64  # of the template's output: took, SM, clock before, clock after (two words each), two free, 48 values


@dataclass(frozen=True)
class Launch:
    """One launch as plain data: what a machine with a GPU needs to make it."""

    name: str
    cubin: bytes
    grid: int
    block: int
    arguments: tuple[tuple[str, Any], ...]  # ("out", words), ("u32", value), ("memory", {...}): see validation/measure.py
    kernel: str = "bench"
    shared_bytes: int = 0
    repeats: int = 3


@dataclass(frozen=True)
class Reading:
    """One number that a microbenchmark gives."""

    name: str
    value: float
    unit: str
    what: str


@dataclass(frozen=True)
class Microbenchmark:
    """Some launches, and what is read from them."""

    name: str
    launches: Callable[[], Sequence[Launch]]
    read: Callable[[Outputs], list[Reading]]
    model: Sequence[ModelRun] = field(default=())


@dataclass(frozen=True)
class ModelRun:
    """How the model gives the same number as a reading: cycles of a long kernel less cycles of a short one, for each unit of work."""

    reading: str
    long: str  # launches by name
    short: str
    work: float  # in units of the reading: instructions, accesses


def took(output: np.ndarray) -> float:
    """The region's time in the template's output: the fewest cycles over the repetitions, of the slowest warp."""
    rows = output.reshape(output.shape[0], -1, WARP_WORDS)
    return float(rows[:, :, 0].max(axis=1).min())


def values(output: np.ndarray, warp: int = 0) -> np.ndarray:
    """The 48 registers of a warp after the last repetition."""
    return output.reshape(output.shape[0], -1, WARP_WORDS)[-1, warp, 8:56]
