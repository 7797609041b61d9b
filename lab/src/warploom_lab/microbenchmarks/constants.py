"""Constants by an index that differs between lanes: how they are served; the kernels are in constants.cu."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from warploom.studies.validate.benchmark import Microbenchmark
from warploom_lab.microbenchmarks.steps import STEPS, per_step

Place = Callable[[int, int], int]
WARPS = (1, 4, 32)
# name: which numbers of different places are tried, and where a lane is, by the lane and this number
WORDS: dict[str, tuple[tuple[int, ...], Place]] = {
    "words": ((1, 2, 4, 8, 16, 32), lambda lane, among: lane % among),  # up to 16 lie in one line of 64 bytes
    "blocks": ((2, 8, 16), lambda lane, among: lane * among // 32),  # neighbours share
    "sectors": ((2, 4, 8), lambda lane, among: 8 * (lane % among)),
    "lines": ((2, 4, 8, 16, 32), lambda lane, among: 16 * (lane % among)),
    "by512": ((2, 4, 8, 32), lambda lane, among: 128 * (lane % among)),  # of lines 512 bytes apart four stay (`constant.by512.*`)
}
OTHERS: dict[str, tuple[str, tuple[int, ...]]] = {  # of other widths, lanes in turn over so many neighbours
    "bytes": ("chase_bytes", (4, 16, 32)),
    "pairs": ("chase_pairs", (1, 4, 16, 32)),
}
RANDOM = {
    f"random{among}.{seed}": np.random.default_rng(seed).integers(0, among, 32).tolist() for among in (32, 512) for seed in (1, 2)
}


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for name, (numbers, place) in WORDS.items():
        for among in numbers:
            yield from _lanes(f"{name}.{among}", "chase_words", [place(lane, among) for lane in range(32)])
    for name, places in RANDOM.items():
        yield from _lanes(name, "chase_words", places)
    for name, (kernel, numbers) in OTHERS.items():
        for among in numbers:
            yield from _lanes(f"{name}.{among}", kernel, [lane % among for lane in range(32)])


def _lanes(pattern: str, kernel: str, places: list[int]) -> Iterator[Microbenchmark]:
    for warps in WARPS:
        what = f"cycles of a step of {warps} warps that loads constants by an index that differs between lanes, {pattern}"
        given = ("words", places), STEPS
        yield per_step("constants.cu", f"constant.lanes.{pattern}.{warps}w", kernel, what, *given, block=32 * warps)
