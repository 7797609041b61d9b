"""Every kind of atomic operation on contended words, in shared and global memory, with its result and without: contended.cu."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from warploom.studies.validate.benchmark import Microbenchmark
from warploom_lab.microbenchmarks.steps import MB, SMS, STEPS, per_step

INTEGERS = ("add", "max", "min", "and", "or", "xor", "exch", "inc", "dec", "cas")
WIDE = ("add_64", "max_64", "exch_64", "cas_64")
FLOATS = ("add_float", "add_double", "add_half2")
APART = {0: ("one", "all lanes on one element"), 1: ("row", "elements in a row")}
WARPS = (1, 8)

_per_step = functools.partial(per_step, "contended.cu")


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them: each warp of the grid uses the same elements."""
    for operation in (*INTEGERS, *WIDE, *FLOATS):
        for used in ("", "_result"):
            for apart, (place, where) in APART.items():
                for warps in WARPS:
                    yield _one("shared", operation, used, apart, place, where, warps, 1)
                    yield _one("global", operation, used, apart, place, where, warps, 1)
                yield _one("global", operation, used, apart, place, where, 8, SMS)


def _one(memory: str, operation: str, used: str, apart: int, place: str, where: str, warps: int, sms: int) -> Microbenchmark:
    result = "with results" if used else "without results"
    return _per_step(
        f"contended.{memory}.{operation}{used}.{place}.{warps}w.{sms}sm",
        f"{memory}_{operation}{used}",
        f"cycles of an SM for each {operation} in {memory} memory, {where}, {result}, {warps} warps on {sms} SMs",
        ("zeros", 2 * MB),
        ("u32", apart),
        STEPS,
        block=32 * warps,
        grid=sms,
        shared_out=warps,
        lengths=(16, 48),
    )
