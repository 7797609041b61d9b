"""Instruction caches: straight-line code of growing length, and jumps from line to line, run again and again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warploom.studies.validate.benchmark import (
    REPS,
    Launch,
    Microbenchmark,
    ModelRun,
    Outputs,
    Reading,
    steady,
    took,
)
from warploom_lab.microbenchmarks.encoding import WrittenInstruction
from warploom_lab.microbenchmarks.slopes import RANDOM_VALUES
from warploom_lab.microbenchmarks.template import LEAST, from_instructions, placeholder, usable_registers

LINE = 8  # instructions
INSTRUCTION_BYTES = 16
JUMPS = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 512, 1024, 1536)
LENGTHS = (96, 128, 160, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 7168, 8192, 9216, 12288, 16384)


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for length in LENGTHS:
        for warps in (1, 4):
            yield _straight(length, warps)
    for lines in JUMPS:
        for order in ("random", "next"):
            yield _jumps(lines, order)


def _straight(length: int, warps: int) -> Microbenchmark:
    name = f"icache.{length}.{warps}w"

    def launches() -> list[Launch]:
        return [_launch(name, _row(length), warps), _launch(f"{name}.least", _row(LEAST), warps)]

    def read(outputs: Outputs) -> list[Reading]:
        what = f"cycles for each of {length} FFMAs in a row ({16 * length} bytes), run for the fourth time by {warps} warps"
        return [Reading(name, took(outputs[name]) / length, "cycles", what)]

    return Microbenchmark(name, launches, read, _less_the_loop(name, length))


def _row(length: int) -> list[WrittenInstruction]:
    results = list(usable_registers())[:16]
    return [WrittenInstruction("FFMA", d=results[number % 16]) for number in range(length)]


def _launch(name: str, code: list[WrittenInstruction], warps: int) -> Launch:
    arguments = (("out", 64 * warps), ("words", RANDOM_VALUES.reshape(-1).tolist()), ("u32", REPS), ("u64", 0))
    return Launch(name, from_instructions(code, name), 1, 32 * warps, arguments)


def _less_the_loop(name: str, work: int) -> ModelRun:
    """A whole repetition has the loop around the region in it; one of a least row, that takes a cycle each, has it too."""
    without = tuple((-sign, launch, reps) for sign, launch, reps in steady(f"{name}.least"))
    return ModelRun(name, steady(name) + without, work, added=LEAST)


def _jumps(lines: int, order: str) -> Microbenchmark:
    """A branch in each of some lines, to the line that follows or to one at random, until all have been visited."""
    name = f"jump.{lines}.{order}"

    def launches() -> list[Launch]:
        return [_launch(name, _jumping(lines, order), 1), _launch(f"{name}.least", _row(LEAST), 1)]

    def read(outputs: Outputs) -> list[Reading]:
        what = f"cycles for each branch from line to line ({order}) among {lines} lines of 128 bytes, run for the fourth time"
        return [Reading(name, took(outputs[name]) / lines, "cycles", what)]

    return Microbenchmark(name, launches, read, _less_the_loop(name, lines))


def _jumping(lines: int, order: str) -> list[WrittenInstruction]:
    slots = max(LINE * (lines + 1), LEAST)
    before = -(placeholder(slots)[3] // INSTRUCTION_BYTES) % LINE  # instructions up to the first whole line
    visited = list(range(lines)) if order == "next" else np.random.default_rng(lines).permutation(lines).tolist()
    places = [before + LINE * line for line in visited]
    code = [WrittenInstruction("NOP")] * slots
    for at, to in zip((0, *places) if before else places, (*places, slots) if before else (*places[1:], slots), strict=True):
        code[at] = WrittenInstruction("BRA", target=(to - at - 1) * INSTRUCTION_BYTES, stall=5)
    return code
