"""Which warp is next: the clock is read by every instruction, or by every second or fourth, of all warps of a sub-core.

A reading of the clock (CS2R) is an instruction without operands, of a pipe that takes one in two cycles. The words that the
launches write hold when each was issued; the numbers say how long a warp goes on before another has its turn, and how far the
last warp of a sub-core is when the first is through: near 1 where they share, near 0 where one is left nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warploom.studies.validate.benchmark import REPS, WARP_WORDS, Launch, Microbenchmark, Outputs, Reading
from warploom_lab.microbenchmarks.encoding import WrittenInstruction
from warploom_lab.microbenchmarks.registers import pattern
from warploom_lab.microbenchmarks.slopes import RANDOM_VALUES
from warploom_lab.microbenchmarks.template import LEAST, SUB_CORES, from_instructions, stored_registers

READINGS = 40  # of the clock by each warp, at most
LONGEST = 288  # instructions of a region, less than the sub-core's cache holds
BEHIND = 6  # blocks behind the last reading
FIRST_VALUE = 8  # word of the output
LAUNCHES = 4


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    clock = WrittenInstruction("CS2R")
    for yields in (False, True):
        ending = ".yields" if yields else ""
        for stall in (1, 2, 3, 4, 5, 6, 7, 8, 10):
            for warps in (8, 16, 32):
                block = [clock.with_(stall=stall, gives_way=yields)]
                yield _turns(f"clock.stall{stall}{ending}.{warps}w", block, warps)
        for name, operands in {"zzz": "z z z", "ezz": "e0 z z", "eez": "e0 e1 z", "eee": "e0 e1 e2"}.items():
            for stall in (3, 4, 5, 6, 7):
                for warps in (8, 12, 16):
                    block = [*pattern(f"FFMA:{stall} w0 {operands}"), clock.with_(stall=stall)]
                    yield _turns(f"{name}.stall{stall}{ending}.{warps}w", [one.with_(gives_way=yields) for one in block], warps)
        for before in (3, 7):  # instructions that a warp could issue in a row
            for stall in (1, 2, 4, 8):
                block = [*pattern("FADD w0 z z") * before, clock.with_(stall=stall, gives_way=yields)]
                yield _turns(f"row{before}.stall{stall}{ending}.16w", block, 16)
    for warps in (8, 16):
        (asked,) = pattern("S2R w0")
        block = [asked.with_(sets=0, stall=2), clock.with_(waits=1), *pattern("FADD w2 z z") * 2]
        yield _turns(f"counter.{warps}w", block, warps)


def _turns(case: str, block: list[WrittenInstruction], warps: int) -> Microbenchmark:
    """A block of instructions, one of which reads the clock, again and again; behind the last reading the others go on."""
    name = f"turns.{case}"
    slots = max(LEAST, min((READINGS + BEHIND) * len(block), LONGEST // len(block) * len(block)))
    readings = min(READINGS, slots // len(block) - BEHIND)

    def code() -> tuple[list[WrittenInstruction], list[int]]:
        """The region, and where its readings of the clock are stored."""
        written = {one.d for one in block}
        places = {register: number for register, number in stored_registers(slots).items() if register not in written}
        registers = list(places)[:readings]
        made = []
        for number in range(slots):
            one = block[number % len(block)]
            if one.operation == "CS2R":
                turn = number // len(block)
                one = one.with_(d=registers[turn]) if turn < readings else pattern(f"FADD:{one.stall} w0 z z")[0]
            made.append(one)
        return made, [places[register] for register in registers]

    def launches() -> list[Launch]:
        values = ("words", RANDOM_VALUES.reshape(-1).tolist())
        arguments = (("out", WARP_WORDS * warps), values, ("u32", REPS), ("u64", 0))
        return [Launch(name, from_instructions(code()[0], name), 1, 32 * warps, arguments, repeats=LAUNCHES)]

    def read(outputs: Outputs) -> list[Reading]:
        words = outputs[name].reshape(LAUNCHES, warps // SUB_CORES, SUB_CORES, WARP_WORDS).astype(np.int64)
        times = words[..., [FIRST_VALUE + place for place in code()[1]]]
        runs, behind = [], []
        for launch in times:
            for core in range(SUB_CORES):
                own = launch[:, core]
                whose = np.argsort(own.reshape(-1), kind="stable") // readings
                runs.append(whose.size / (1 + int((np.diff(whose) != 0).sum())))
                behind.append((own <= own[:, -1].min()).sum(axis=1).min() / readings)
        what = f"{'; '.join(f'{one}, stall {one.stall}' for one in block)}; {warps} warps on the SM"
        last = f"readings of the last warp when the first is through: {what}"
        return [
            Reading(f"{name}.run", float(np.mean(runs)), "readings", f"of a warp before another has its turn: {what}"),
            Reading(f"{name}.last", float(np.mean(behind)), "of all", last),
        ]

    return Microbenchmark(name, launches, read)
