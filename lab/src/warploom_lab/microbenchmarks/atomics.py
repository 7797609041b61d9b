"""Atomics on few words: by how many meet there, of a warp, of an SM and of the chip; the kernels are in atomics.cu."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from warploom.studies.validate.benchmark import Microbenchmark
from warploom_lab.microbenchmarks.steps import MB, SMS, STEPS, per_step, sectors_per_step

ELEMENTS = {  # operation: among how many elements lanes are at random
    "red": (1, 8, 32, 256, 1024, 4096, 65536, 1 << 20, 1 << 22),
    "red_64": (1, 32, 256, 1024, 4096, 65536),
    "red_float": (256, 4096, 65536),
    "max_64": (1024, 65536),
    "atom": (1, 32, 256, 1024, 4096, 65536),
    "atom_64": (1024, 65536),
    "cas": (1, 256, 1024, 4096, 65536),
    "cas_64": (256, 1024, 4096, 65536),
    "swap": (1024, 65536),
    "sum": (1024, 4096, 65536),
}
FEW = (1, 32, 256, 1024, 65536)  # elements of those that one SM is measured with
LANES = (1, 2, 4, 8, 16, 32)
PLACED = {  # name: operation, elements between lanes, warps and CTAs, what
    "one": ("red", 0, 0, 0, "all on one word"),
    "row": ("red", 1, 0, 0, "words in a row, the same for all warps"),
    "sectors": ("red", 8, 0, 0, "a sector each, the same for all warps"),
    "lines": ("red", 32, 0, 0, "a line each, one after the other, the same for all warps"),
    "by256": ("red", 64, 0, 0, "a line each, 256 bytes apart, the same for all warps"),
    "by512": ("red", 128, 0, 0, "a line each, 512 bytes apart, the same for all warps"),
    "by4096": ("red", 1024, 0, 0, "a line each, 4 KB apart, the same for all warps"),
    "each": ("red", 0, 8, 1024, "all lanes on one word, a sector for each warp"),
    "each_sm": ("red", 0, 0, 1024, "all lanes on one word, one for each SM"),
    "own_row": ("red", 1, 32, 1024, "words in a row, other ones for each warp"),
    "one.wide": ("red_64", 0, 0, 0, "all on one element of 64 bits"),
    "row.wide": ("red_64", 1, 0, 0, "elements of 64 bits in a row, the same for all warps"),
    "one.float": ("red_float", 0, 0, 0, "all on one word, as sums of floats"),
    "one.atom": ("atom", 0, 0, 0, "all on one word, with results"),
    "row.atom": ("atom", 1, 0, 0, "words in a row, the same for all warps, with results"),
    "one.cas": ("cas", 0, 0, 0, "compare and swap, all on one word"),
    "row.cas": ("cas", 1, 0, 0, "compare and swap, words in a row"),
    "row.cas_64": ("cas_64", 1, 0, 0, "compare and swap of 64 bits, elements in a row"),
}

_per_step = functools.partial(per_step, "atomics.cu")
_sectors = functools.partial(sectors_per_step, "atomics.cu", counter="l2_atomic_accesses")


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for operation, elements in ELEMENTS.items():
        for number in elements:
            yield from _at_random(operation, number)
    for name, (operation, *apart, about) in PLACED.items():
        for lanes in LANES:
            yield from _in_place(name, operation, [("u32", number) for number in apart], lanes, about)


def _at_random(operation: str, elements: int) -> Iterator[Microbenchmark]:
    kernel, about = f"random_{operation}", f"a {operation} of 32 lanes at random among {elements} elements"
    given = ("zeros", 32 * MB), ("u32", elements - 1), ("u32", 32)
    for grid in (SMS, 1):
        if grid == SMS or (elements in FEW and operation in ("red", "atom", "cas")):
            yield _per_step(
                f"meet.{operation}.{elements}.8w.{grid}sm",
                kernel,
                f"cycles of an SM for {about}, 8 warps on {grid} SMs",
                *given,
                STEPS,
                block=256,
                grid=grid,
                shared_out=8,
                lengths=(16, 48) if operation == "sum" or elements <= 8 else (64, 192),
                modelled=operation != "sum",  # how often it tries again depends on the order
            )
    if operation in ("red", "red_64", "atom", "cas"):
        yield _sectors(f"traffic.meet.{operation}.{elements}", kernel, about, *given, STEPS)


def _in_place(name: str, operation: str, apart: list[tuple[str, int]], lanes: int, where: str) -> Iterator[Microbenchmark]:
    kernel, about = f"placed_{operation}", f"a {operation} of {lanes} lanes, {where}"
    given = ("zeros", 2 * MB), *apart, ("u32", lanes)
    for grid, warps in ((SMS, 1), (SMS, 12), (1, 12)):
        full, what = f"place.{name}.{lanes}.{warps}w.{grid}sm", f"cycles of an SM for {about}, {warps} warps on {grid} SMs"
        yield _per_step(full, kernel, what, *given, STEPS, block=32 * warps, grid=grid, shared_out=warps, lengths=(16, 80))
    if lanes in (1, 8, 32):
        yield _sectors(f"traffic.place.{name}.{lanes}", kernel, about, *given, STEPS)
