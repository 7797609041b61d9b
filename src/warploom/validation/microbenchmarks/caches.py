"""Instruction caches: straight-line code of growing length, run again and again."""

from __future__ import annotations

from collections.abc import Iterator

from warploom.validation.microbenchmarks.benchmark import REPS, Launch, Microbenchmark, ModelRun, Outputs, Reading, steady, took
from warploom.validation.microbenchmarks.encoding import Instruction
from warploom.validation.microbenchmarks.slopes import RANDOM_VALUES
from warploom.validation.microbenchmarks.template import from_instructions, usable_registers

LENGTHS = (96, 128, 160, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 7168, 8192, 9216, 12288, 16384)


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for length in LENGTHS:
        for warps in (1, 4):
            yield _straight(length, warps)


def _straight(length: int, warps: int) -> Microbenchmark:
    name = f"icache.{length}.{warps}w"

    def launches() -> list[Launch]:
        results = list(usable_registers())[:16]
        code = [Instruction("FFMA", d=results[number % 16]) for number in range(length)]
        arguments = (("out", 64 * warps), ("words", RANDOM_VALUES.reshape(-1).tolist()), ("u32", REPS), ("u64", 0))
        return [Launch(name, from_instructions(code, name), 1, 32 * warps, arguments)]

    def read(outputs: Outputs) -> list[Reading]:
        what = f"cycles for each of {length} FFMAs in a row ({16 * length} bytes), run for the fourth time by {warps} warps"
        return [Reading(name, took(outputs[name]) / length, "cycles", what)]

    return Microbenchmark(name, launches, read, ModelRun(name, steady(name), length))
