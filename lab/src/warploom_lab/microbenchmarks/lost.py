"""Cycles that are lost among instructions that ask for every cycle of one bank.

All numbers are cycles of a whole pattern. Most of its instructions are FADDs of one even register. ``hole``: one reads nothing,
and a later one reads two even registers; the number is that of instructions if the hole makes room for the second read.
``bubble``: one reads two even registers, so that one cycle more is needed, and another waits a cycle for its pipe or its stall
count, which may be the same cycle or a second one. ``read``: an instruction reads a register among FADDs that do; ``write``: its
result goes to the bank that all others write, or to the other one.
"""

from __future__ import annotations

from collections.abc import Iterator

from warploom.studies.validate.benchmark import Microbenchmark
from warploom_lab.microbenchmarks.encoding import NO_RESULT, UNIFORM, WrittenInstruction
from warploom_lab.microbenchmarks.pipes import addresses_for, independent
from warploom_lab.microbenchmarks.registers import pattern
from warploom_lab.microbenchmarks.slopes import Slope

ONE_READ, TWO_READS = "FADD x1 z e5", "FFMA w1 e3 e4 z"
HOLES = (
    *("FFMA", "FADD", "FMNMX", "IADD3", "LOP3", "MOV", "SEL", "I2FP", "IMAD", "IMAD.WIDE", "HFMA2", "HFMA2.MMA", "DADD", "DFMA"),
    *("CS2R", "NOP", "UIADD3", "ULDC", "S2R", "LDC", "POPC", "MUFU.EX2", "F2I", "SHFL"),
)
IN_TURN = ("FFMA", "IMAD", "IMAD.WIDE", "HFMA2")  # for these it matters how many others go to the halves of the FP32 unit
BUBBLES = {
    "stall": "FADD:2 x1 z e5",
    "two_iadd": "IADD3 x2 z e5 z; IADD3 x2 z e5 z",
    "two_imad": "IMAD x2 z e5 z; IMAD x2 z e5 z",
    "two_hfma": "HFMA2.MMA x2 z e5 z; HFMA2.MMA x2 z e5 z",
    "two_dadd": "DADD q1 p6 z; DADD q1 p6 z",
    "imad": "IMAD x2 z e5 z",
    "hfma": "HFMA2.MMA x2 z e5 z",
    "iadd": "IADD3 x2 z e5 z",
    "dadd": "DADD q1 p6 z",
}
READING = {
    "mufu_even": "MUFU.EX2 w0 e0",
    "mufu_odd": "MUFU.EX2 w0 o0",
    "mufu_none": "MUFU.EX2 w0 z",
    "popc_even": "POPC w0 e0",
    "popc_odd": "POPC w0 o0",
    "shfl_even": "SHFL w0 e0 e1",
    "shfl_odd": "SHFL w0 o0 o1",
    "lds_even": "LDS w0 e0",
    "lds_odd": "LDS w0 o0",
    "sts_even": "STS z e0 e1",
    "sts_odd": "STS z o0 o1",
    "dadd_pair": "DADD q0 p0 z",
    "hfma_even": "HFMA2.MMA w0 e0 z z",
    "hfma_odd": "HFMA2.MMA w0 o0 z z",
    "imad_even": "IMAD w0 e0 z z",
    "iadd_even": "IADD3 w0 e0 z z",
}
BESIDE = {"even": "FADD x0 e1 z", "odd": "FADD x0 o1 z", "none": "FADD x0 z z"}
WRITING = ("POPC", "MUFU.EX2", "F2I", "S2R", "LDC", "LDS", "SHFL", "HFMA2.MMA", "DADD", "IMAD", "IMAD.WIDE")


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for slope in slopes():
        yield slope.microbenchmark()


def slopes() -> Iterator[Slope]:
    """All of them, as the patterns that they repeat."""
    for name in HOLES:
        for behind in (8, 9) if name in IN_TURN else (8,):
            for distance in (0, 1, 2, 5):
                code = [_without_operands(name), *_row(ONE_READ, distance), *pattern(TWO_READS), *_row(ONE_READ, behind)]
                yield _whole(f"hole.{name}.{distance}+{behind}", code)
    for name, text in BUBBLES.items():
        for behind in (8, 9):
            for distance in (0, 2, 5):
                code = [*pattern(text), *_row(ONE_READ, distance), *pattern(TWO_READS), *_row(ONE_READ, behind)]
                yield _whole(f"bubble.{name}.{distance}+{behind}", code)
    for name, text in READING.items():
        for bank, beside in BESIDE.items():
            for others in (8, 9, 15):
                yield _whole(f"read.{name}.{bank}.{others}", [*pattern(text), *_row(beside, others)])
    for name in WRITING:
        for bank, result in {"same": "w1", "other": "x1"}.items():
            for others in (7, 8, 15):
                code = [_without_operands(name), *_row(f"FFMA {result} z z z", others)]
                yield _whole(f"write.{name}.{bank}.{others}", code)


def _row(text: str, length: int) -> list[WrittenInstruction]:
    return pattern(text) * length


def _without_operands(name: str) -> WrittenInstruction:
    """An instruction of no registers but an even result; of an address, one in shared memory."""
    if name in UNIFORM or name in NO_RESULT:
        return independent(name, 0)
    (like,) = pattern("FADD q0 e0 z")
    return WrittenInstruction(name, d=like.d, a=like.a) if name == "LDS" else WrittenInstruction(name, d=like.d)


def _whole(name: str, code: list[WrittenInstruction]) -> Slope:
    what = f"cycles of {len(code)} instructions: {'; '.join(dict.fromkeys(str(one) for one in code))}"
    memory = next((one.operation for one in code if one.operation in ("LDS", "STS")), "")
    return Slope(f"lost.{name}", what, code, inputs=addresses_for(memory))
