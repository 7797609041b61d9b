"""Warps of a sub-core beside each other, in a loop that runs for thousands of instructions.

Short regions show how warps fall in beside each other, which differs from launch to launch. Here every warp runs the same code,
which the sub-core's cache holds, again and again; a number is the time of many rounds less that of few, the mean over sub-cores
and launches. ``.spread`` is how far these are apart, ``.first`` when the first warp of a sub-core is through, as a share of the
time of all: near 1 where the warps share, 1/n where n warps have their turns one after the other.

FFMAs of three operands (e: even registers, o: an odd one, z: none), or IADD3 (``alu``), whose pipe takes one in two cycles; stall
counts with the yield bit (``.yields``), as compilers write most of them, and without. And instructions of several pipes in turn.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from warploom.studies.validate.benchmark import (
    WARP_WORDS,
    Launch,
    Microbenchmark,
    ModelRun,
    Outputs,
    Reading,
    clocks,
)
from warploom_lab.microbenchmarks.encoding import WrittenInstruction
from warploom_lab.microbenchmarks.pipes import independent
from warploom_lab.microbenchmarks.registers import pattern
from warploom_lab.microbenchmarks.slopes import RANDOM_VALUES
from warploom_lab.microbenchmarks.template import SUB_CORES, from_instructions

ROUND = 256  # instructions of a round, less than the sub-core's cache holds
FEW, MANY = 16, 80  # rounds
LAUNCHES = 8
OPERANDS = {
    "eee": "FFMA:{} w0 e0 e1 e2",
    "eeo": "FFMA:{} w0 e0 e1 o0",
    "eez": "FFMA:{} w0 e0 e1 z",
    "ezz": "FFMA:{} w0 e0 z z",
    "alu": "IADD3:{} w0 z z z",
}
MIXED = ("FFMA+FFMA+IMAD", "FFMA+IMAD", "FFMA+FFMA+IADD3", "FFMA+HFMA2", "ULDC+UIADD3", "ULDC+FFMA")
CHAINS = {"eeo.chain": "FFMA:4 w0 w0 e1 o0", "imad.chain": "IMAD:4 w0 w0 e1 o0"}
STALLS, WARPS = range(2, 9), (8, 12, 16)
MANY_WARPS, THEIR_STALLS = 32, (4, 8)


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for name, text in OPERANDS.items():
        cases = [*itertools.product(STALLS, WARPS), *itertools.product(THEIR_STALLS, (MANY_WARPS,))]
        for (stall, warps), yields in itertools.product(cases, (False, True)):
            yield _steady(f"{name}.stall{stall}", pattern(text.format(stall)), warps, yields)
    for name, text in CHAINS.items():
        for warps, yields in itertools.product(WARPS, (False, True)):
            yield _steady(name, pattern(text), warps, yields)
    for name in MIXED:
        for warps in (4, *WARPS):
            yield _steady(name, [independent(one, number) for number, one in enumerate(name.split("+"))], warps, False)


def _steady(case: str, code: list[WrittenInstruction], warps: int, yields: bool) -> Microbenchmark:
    name = f"steady.{case}{'.yields' if yields else ''}.{warps}w"
    beside = warps // SUB_CORES
    length = ROUND // len(code) * len(code)
    work = (MANY - FEW) * length * beside

    def launches() -> list[Launch]:
        cubin = from_instructions([one.with_(gives_way=yields) for one in code] * (length // len(code)), name, whole=True)
        made = []
        for rounds in (FEW, MANY):
            values = ("words", RANDOM_VALUES.reshape(-1).tolist())
            arguments = (("out", WARP_WORDS * warps), values, ("u32", rounds), ("u64", 0))
            made.append(Launch(f"{name}.{rounds}", cubin, 1, 32 * warps, arguments, repeats=LAUNCHES))
        return made

    def read(outputs: Outputs) -> list[Reading]:
        cycles, first = {}, 0.0
        for rounds in (FEW, MANY):
            start, end = (one.reshape(LAUNCHES, beside, SUB_CORES) for one in clocks(outputs[f"{name}.{rounds}"]))
            begun = start.min(axis=1)
            cycles[rounds] = end.max(axis=1) - begun
            first = float(((end.min(axis=1) - begun) / cycles[rounds]).mean())
        value = float(cycles[MANY].mean() - cycles[FEW].mean()) / work
        spread = float(cycles[MANY].max() - cycles[MANY].min()) / (MANY * length * beside)
        written = "; ".join(f"{one}, stall {one.stall}" for one in code)
        what = f"{written}{', yield bit' if yields else ''}, {warps} warps on the SM"
        return [
            Reading(name, value, "cycles", f"cycles for each instruction of a sub-core in a long loop: {what}"),
            Reading(f"{name}.spread", spread, "cycles", f"the most less the least of sub-cores and launches: {what}"),
            Reading(f"{name}.first", first, "of all", f"the time until the first warp of a sub-core is through: {what}"),
        ]

    run = ModelRun(name, ((1, f"{name}.{MANY}", None), (-1, f"{name}.{FEW}", None)), work)
    return Microbenchmark(name, launches, read, run)
