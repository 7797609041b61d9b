"""Accesses of a warp by where its lanes lie: shared memory, and global memory that L1 holds; the kernels are in patterns.cu.

A pattern is the number of each lane's place, in units of the access's width: lanes of one number share all of their words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from warploom.studies.validate.benchmark import Microbenchmark
from warploom_lab.microbenchmarks.steps import KB, STEPS, per_step

LANES = range(32)
WARPS = (1, 4, 32)
SHARING: dict[str, Callable[[int], int]] = {  # which lanes share a place, where those that do not never conflict within eight
    "own": lambda lane: lane,
    "all": lambda _: 0,
    "halves": lambda lane: lane // 16,
    "quarters": lambda lane: lane // 8,
    "fours": lambda lane: lane // 4,
    "pairs": lambda lane: lane // 2,
    "second": lambda lane: lane // 4 * 2 + lane % 2,  # lanes 0 and 2, 1 and 3
    "fourth": lambda lane: lane // 8 * 4 + lane % 4,  # lanes 0 and 4
    "eighth": lambda lane: lane // 16 * 8 + lane % 8,  # lanes 0 and 8
    "sixteenth": lambda lane: lane % 16,  # lanes 0 and 16
    "of_eight": lambda lane: lane % 8,
    "of_four": lambda lane: lane % 4,
    "of_two": lambda lane: lane % 2,
    "mirrored": lambda lane: min(lane, 31 - lane),
    "turned": lambda lane: lane % 4 * 8 + lane // 4,
    "pairs_and_seconds": lambda lane: lane // 2 if lane < 16 else lane // 4 * 2 + lane % 2,
    "pairs_then_own": lambda lane: lane // 2 if lane < 16 else lane,
    "one_pair": lambda lane: lane if lane != 1 else 0,
    "all_but_one": lambda lane: int(lane == 31),
    "crossed": lambda lane: lane // 2 if lane % 4 < 2 else lane // 4 * 2 + lane % 2,
}
APART: dict[str, Callable[[int], int]] = {  # places that conflict
    "by2": lambda lane: 2 * lane,
    "by4": lambda lane: 4 * lane,
    "by8": lambda lane: 8 * lane,
    "by3": lambda lane: 3 * lane,
    "by16": lambda lane: 16 * lane,
    "pairs_by8": lambda lane: lane // 2 * 8,
    "halves_by8": lambda lane: lane // 16 * 8,
    "quarters_by8": lambda lane: lane // 8 * 8,
    "fours_by8": lambda lane: lane // 4 * 8,
    "pairs_by4": lambda lane: lane // 2 * 4,
    "in_quarters": lambda lane: lane % 8 // 2 + lane % 2 * 8 + lane // 8 * 16,
    "between_quarters": lambda lane: lane % 8 + lane // 8 * 8,
}
GONE = 0xFFFFFFFF  # instead of a place: the lane is not there; the first always is
ABSENT: dict[str, Callable[[int], int]] = {
    "evens": lambda lane: lane // 2 if lane % 2 == 0 else GONE,
    "firsts": lambda lane: lane // 4 * 2 + lane % 2 if lane % 4 < 2 else GONE,
    "pairs_less_one": lambda lane: lane // 2 if lane != 31 else GONE,
    "pairs_in_front": lambda lane: lane // 2 if lane < 16 else GONE,
    "own_in_front": lambda lane: lane if lane < 16 else GONE,
    "own_first_quarter": lambda lane: lane if lane < 8 else GONE,
    "own_two_quarters": lambda lane: lane if lane % 16 < 8 else GONE,
    "own_less_pairs": lambda lane: lane if lane % 4 != 3 else GONE,
}
OF_L1: dict[str, Callable[[int], int]] = {  # words, or units of the width
    "row": lambda lane: lane,
    "by2": lambda lane: 2 * lane,
    "by8": lambda lane: 8 * lane,
    "by16": lambda lane: 16 * lane,
    "by32": lambda lane: 32 * lane,
    "by33": lambda lane: 33 * lane,
    "by36": lambda lane: 36 * lane,
    "by40": lambda lane: 40 * lane,
    "by64": lambda lane: 64 * lane,
    "fours_by32": lambda lane: lane % 4 + lane // 4 * 32,
    "eights_by32": lambda lane: lane % 8 + lane // 8 * 32,
    "sectors_of_two_lines": lambda lane: lane % 2 * 32 + lane // 2 % 4 * 8,
    "misaligned": lambda lane: lane + 1,
}
RANDOM = {
    f"random{among}.{seed}": np.random.default_rng(seed).integers(0, among, 32).tolist() for among in (32, 256) for seed in (1, 2)
}
WIDTHS = {32: 1, 64: 2, 128: 4}  # bits, words


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for bits, width in WIDTHS.items():
        for name, at in ABSENT.items() if bits > 32 else ():
            what = f"cycles of the SM for an LDS of {bits} bits, not all lanes, by the pattern {name}, 32 warps"
            some = [width * at(lane) if at(lane) != GONE else GONE for lane in LANES]
            yield _pattern(f"pattern.lds.{bits}bit.{name}.32w", f"lds_{bits}", what, some, 32)
        shared = {name: [place(lane) for lane in LANES] for name, place in (SHARING | APART).items()} | RANDOM
        for name, places in shared.items():
            if bits == 32 and name in SHARING and name not in ("own", "all", "pairs"):
                continue  # a word is read once for all lanes that want it
            for opcode, warps in (("lds", WARPS), ("sts", (32,))):
                for number in warps:
                    what = f"cycles of the SM for an {opcode.upper()} of {bits} bits, lanes by the pattern {name}, {number} warps"
                    full = f"pattern.{opcode}.{bits}bit.{name}.{number}w"
                    yield _pattern(full, f"{opcode}_{bits}", what, [width * place for place in places], number)
        cached = {name: [place(lane) for lane in LANES] for name, place in OF_L1.items()} | RANDOM
        for name, places in cached.items():
            what = f"cycles of the SM for an LDG of {bits} bits that hits in L1, lanes by the pattern {name}, 32 warps"
            given = [width * place for place in places]
            yield _pattern(f"pattern.ldg.{bits}bit.{name}.32w", f"ldg_{bits}", what, given, 32, ("random", 256 * KB))


def _pattern(name: str, kernel: str, what: str, places: list[int], warps: int, *more: tuple[str, object]) -> Microbenchmark:
    given = ("words", places), STEPS, *more
    return per_step("patterns.cu", name, kernel, what, *given, block=32 * warps, shared_out=warps)
