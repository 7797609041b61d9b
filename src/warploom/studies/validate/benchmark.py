"""What a microbenchmark is: launches of small kernels, and how their outputs become one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Outputs = Mapping[str, np.ndarray]  # by the launch's name: words of the output, one row for each repetition
REPS = 4  # how often the template's region runs; the first fills the instruction caches
WARP_WORDS = 64  # of the template's output: took, SM, clock before, clock after (two words each), two free, 48 values


@dataclass(frozen=True)
class Launch:
    """One launch as plain data: what a machine with a GPU needs to make it."""

    name: str
    cubin: bytes
    grid: int
    block: int
    arguments: tuple[
        tuple[str, Any], ...
    ]  # ("out", words), ("u32", value), ("memory", {...}): see gpu/measure.py of the laboratory
    kernel: str = "bench"
    shared_bytes: int = 0
    repeats: int = 3
    counted: str = ""  # what of it Nsight Compute counts, "dram" or "l2": its outputs are counters then, by `LAUNCH/COUNTER`


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
    model: ModelRun | None = None  # None where whole launches cannot show it


@dataclass(frozen=True)
class ModelRun:
    """How the model gives the same number as a reading: cycles or a counter of launches, added and subtracted, by unit of work.

    A term is a sign, a launch by name, and how often the template's region runs in it (None: as the launch says). One run of the
    region more than another costs what the clocks around it show on a real chip, once caches and loops are subtracted.
    """

    reading: str
    terms: tuple[tuple[int, str, int | None], ...]
    work: float
    added: float = 0  # cycles that the terms leave out, of a region whose time is known
    counter: str = ""  # of the memory system, where a launch's number is not its cycles


def steady(launch: str) -> tuple[tuple[int, str, int | None], ...]:
    """The terms for one run of a launch's region when instruction caches are warm."""
    return (1, launch, REPS + 1), (-1, launch, REPS)


def clocks(output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The readings of the clock in the template's output, before and after the region: by repetition and warp that ran it."""
    rows = output.reshape(output.shape[0], -1, WARP_WORDS).astype(np.int64)
    start, end = (rows[:, :, at] + (rows[:, :, at + 1] << 32) for at in (2, 4))
    ran = (end > 0).all(axis=0)
    return start[:, ran], end[:, ran]


def took(output: np.ndarray) -> float:
    """The time in the template's output: from the first warp's start to the last one's end, the least of the repetitions."""
    start, end = clocks(output)
    return float((end.max(axis=1) - start.min(axis=1)).min())


def values(output: np.ndarray, warp: int = 0) -> np.ndarray:
    """The 48 registers of a warp after the last repetition."""
    return output.reshape(output.shape[0], -1, WARP_WORDS)[-1, warp, 8:56]
