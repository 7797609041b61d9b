"""Reckon which arrays of single kernels lay in L2 when they were launched with caches as they were (``cycles_as_is``).

    warploom-lab copies-in-l2     # kernels to adjust on, those whose memory was not there first

`measure.py` launches the kernels of a session one after the other in one process, whose arrays CuPy's pool places. Reckoned is
where that is, and how much of it is in L2 from launches before, if a copy from the host refreshes what is there and brings in
nothing else. Beside it stands how many of the cold cycles each launch took.
"""

from __future__ import annotations

import json
import statistics
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from warploom.studies.validate.programs import initial_value
from warploom.studies.validate.recorded import FRESH_SIZE, SINGLE_SIZES, MeasuredLaunch, read_launches
from warploom.studies.validate.split import ADJUST
from warploom_lab import DEVICES

MB = 1 << 20
L2_BYTES = 40 * MB  # between half of it, for lines that both halves have, and all of it
PAGE = 4096  # what is in L2 is reckoned in these
ROUNDED = 512  # to whole ones of these the pool rounds sizes up
FIRST = 64 * MB  # three such arrays are made and given back before the first kernel (`warm_up`)
APART = 1 << 32
LEAST_READ = 300_000  # bytes; launches that read less say little


@dataclass
class Piece:
    """Memory of a pool, in use or free."""

    address: int
    size: int
    allocation: int
    free: bool = False


class Pool:
    """Takes the smallest free piece that is large enough, from its lower end, and joins free neighbours."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def allocate(self, size: int) -> int:
        wanted = -(-max(size, 1) // ROUNDED) * ROUNDED
        fitting = [piece for piece in self.pieces if piece.free and piece.size >= wanted]
        if not fitting:
            number = sum(piece.address == piece.allocation for piece in self.pieces) + 1
            self.pieces.append(Piece(number * APART, wanted, number * APART))
            return number * APART
        taken = min(fitting, key=lambda piece: piece.size)
        if taken.size > wanted:
            rest = Piece(taken.address + wanted, taken.size - wanted, taken.allocation, free=True)
            self.pieces.insert(self.pieces.index(taken) + 1, rest)
        taken.size, taken.free = wanted, False
        return taken.address

    def free(self, address: int) -> None:
        place = next(place for place, piece in enumerate(self.pieces) if piece.address == address)
        self.pieces[place].free = True
        for first in (place, place - 1):
            if 0 <= first < len(self.pieces) - 1:
                lower, upper = self.pieces[first : first + 2]
                if lower.free and upper.free and lower.allocation == upper.allocation:
                    lower.size += upper.size
                    del self.pieces[first + 1]


class Cache:
    """What is in L2, the least recently touched first."""

    def __init__(self) -> None:
        self.pages: OrderedDict[int, None] = OrderedDict()

    def touch(self, address: int, size: int, bring: bool) -> float:
        """Touch memory, and bring in what is not there or leave it; the share of it that was there."""
        pages = range(address // PAGE, -(-(address + max(size, 1)) // PAGE))
        there = 0
        for page in pages:
            if page in self.pages:
                there += 1
                self.pages.move_to_end(page)
            elif bring:
                self.pages[page] = None
                if len(self.pages) > L2_BYTES // PAGE:
                    self.pages.popitem(last=False)
        return there / len(pages)


def shares_in_l2(kernels: Iterable[str]) -> dict[str, float]:
    """Of each kernel of a session, the share of its arrays' bytes that were in L2 when it was launched."""
    pool, cache = Pool(), Cache()
    first = [pool.allocate(FIRST) for _ in range(3)]
    for address in first:
        cache.touch(address, FIRST, bring=True)
        pool.free(address)
    shares: dict[str, float] = {}
    before: list[tuple[int, Any]] = []
    for name in sorted(kernels):
        about = json.loads((DEVICES / "kernels" / f"{name}.json").read_text())
        in_pool = [argument for argument in about["args"] if "[" in argument["type"] and "texture" not in argument]
        sizes = [initial_value(argument).nbytes for argument in in_pool]
        arrays = [(pool.allocate(size), size) for size in sizes]
        there = sum(size * cache.touch(address, size, bring=False) for address, size in arrays)
        for address, _ in before:
            pool.free(address)
        for address, size in arrays:
            cache.touch(address, size, bring=True)
        shares[name], before = there / sum(sizes) if sizes else 1.0, arrays
    return shares


def session(launch: MeasuredLaunch) -> tuple[bool, bool]:
    """Single kernels were measured in three sessions: the first ones of `own`, once; the others, twice; those of `fresh`."""
    return launch.size == FRESH_SIZE, launch.measurements > 2


def main() -> None:
    single = [launch for launch in read_launches(DEVICES / "h200")[1] if launch.size in SINGLE_SIZES]
    shares: dict[str, float] = {}
    for one in sorted({session(launch) for launch in single}):
        shares |= shares_in_l2(launch.program for launch in single if session(launch) == one)
    shown = [launch for launch in single if launch.part == ADJUST and (launch.dram_read_bytes or 0) > LEAST_READ]
    for launch in sorted(shown, key=lambda launch: shares[launch.program]):
        taken = launch.cycles_as_is / launch.cycles
        print(f"{launch.program:24} {launch.size:6} {shares[launch.program]:4.0%} in L2, {taken:.2f} of the cold cycles")
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.01)):
        some = [launch.cycles_as_is / launch.cycles for launch in shown if low <= shares[launch.program] < high]
        print(
            f"{low:.0%} to {min(high, 1):.0%} in L2: {len(some)} kernels, median {statistics.median(some):.2f} of the cold cycles"
        )


if __name__ == "__main__":
    main()
