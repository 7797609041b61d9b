"""Instructions of variable latency: after how many cycles a counter is let go, and how many wait in front of a unit."""

from __future__ import annotations

from collections.abc import Iterator

from warploom.studies.validate.benchmark import Microbenchmark
from warploom_lab.microbenchmarks.encoding import OPERATIONS, WrittenInstruction
from warploom_lab.microbenchmarks.pipes import addresses_for, independent
from warploom_lab.microbenchmarks.slopes import Slope
from warploom_lab.microbenchmarks.template import usable_registers

WAITED_FOR = ("S2R", "S2UR", "LDC", "LDS", "SHFL", "MUFU.EX2", "POPC", "F2I")
QUEUED = ("MUFU.EX2", "SHFL", "LDS", "STS", "S2R", "LDC")
IN_A_ROW = (1, 2, 3, 4, 5, 6, 8, 10)
IN_FOURS = {  # what goes the way of constants, and how often it is in a row
    "LDC": (7, 9, 11, 12, 13),
    "S2UR": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12),
}
APART = (1, 2, 3, 4)  # other instructions between two of them
MEANWHILE = 16  # instructions of another pipe for each, so that the unit is through when the next row comes


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for name in WAITED_FOR:
        what = f"cycles of a {name} and an IADD3 that waits for its counter"
        code = [_asking(name, 0).with_(sets=0, stall=2), WrittenInstruction("IADD3", waits=1)]
        yield Slope(f"wait.{name}", what, code, inputs=addresses_for(name)).microbenchmark()
    for name in QUEUED:
        for row in IN_A_ROW:
            what = f"cycles of {row} {name} in a row and {MEANWHILE * row} FFMAs: {(1 + MEANWHILE) * row} if issue never waits"
            code = [_asking(name, number) for number in range(row)] + [WrittenInstruction("FFMA")] * (MEANWHILE * row)
            yield Slope(f"queue.{name}.{row}", what, code, inputs=addresses_for(name)).microbenchmark()
    for name, rows in IN_FOURS.items():
        for row in rows:
            what = f"cycles of {row} {name} in a row and {MEANWHILE * row} FFMAs: {(1 + MEANWHILE) * row} if issue never waits"
            code = [_asking(name, number) for number in range(row)] + [WrittenInstruction("FFMA")] * (MEANWHILE * row)
            yield Slope(f"fours.{name}.{row}", what, code).microbenchmark()
    for apart in APART:
        row = 8
        what = f"cycles of {row} LDC, each with {apart} FFMAs behind it, and {MEANWHILE * row} FFMAs"
        asked = [one for number in range(row) for one in (_asking("LDC", number), *[WrittenInstruction("FFMA")] * apart)]
        yield Slope(f"fours.apart{apart}", what, asked + [WrittenInstruction("FFMA")] * (MEANWHILE * row)).microbenchmark()


def _asking(name: str, number: int) -> WrittenInstruction:
    """An instruction whose operands are in different banks."""
    sources = dict(zip("abc", usable_registers()[-3:], strict=True))
    return independent(name, number).with_(**{letter: sources[letter] for letter in OPERATIONS[name][2]})
