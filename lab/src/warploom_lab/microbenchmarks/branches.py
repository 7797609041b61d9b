"""Branches: what one costs that all lanes take, none, or some; the lanes meet again behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from warploom.studies.validate.benchmark import Microbenchmark
from warploom_lab.microbenchmarks.encoding import WrittenInstruction
from warploom_lab.microbenchmarks.slopes import RANDOM_VALUES, Slope
from warploom_lab.microbenchmarks.template import SUB_CORES, usable_registers

BYTES = 16  # of an instruction
LANES = 32
TAKEN_BY = {"all": LANES, "half": LANES // 2, "none": 0, "one": 1, "all_but_one": LANES - 1}
FEW = {"two": range(2), "three": range(3), "four": range(4), "eight": range(8), "second": (1,), "last": (31,), "apart": (0, 31)}
WORK = 2  # instructions that the branch goes over
FOR_THE_GUARD = 13  # cycles from a comparison to a guard, as ptxas has them
FOR_A_BRANCH = 5  # stall count of branches, as ptxas has it
_COMPARED = WrittenInstruction("ISETP", a=usable_registers()[-1], stall=FOR_THE_GUARD)
_EMPTY_REGION = [WrittenInstruction("BSSY", target=BYTES), WrittenInstruction("BSYNC", stall=FOR_A_BRANCH)]


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for name, lanes in TAKEN_BY.items():
        yield _around(f"branch.{name}", name, range(lanes), WORK)
    for work in (0, 1, 4, 8, 16):
        for name in ("all", "half", "none"):
            yield _around(f"branch.{name}.over{work}", name, range(TAKEN_BY[name]), work)
    for name, some in FEW.items():
        yield _around(f"branch.few.{name}", name, some, WORK)
    for work in (0, 1, 4, 8, 16):
        yield _around(f"branch.few.one.over{work}", "one", range(1), work)
    for cores in (1, 2, 4):
        for beside in (1, 2, 3, 4, 8):
            what = f"cycles between two branches of a sub-core to the next instruction, {beside} warps on {cores} sub-cores each"
            code = [WrittenInstruction("BRA")]
            yield Slope(f"crowd.BRA.{cores}x{beside}", what, code, warps=SUB_CORES * beside, cores=cores).microbenchmark()
    what = "cycles of the same comparison and two FFMAs without a branch"
    yield Slope("branch.absent", what, [_COMPARED, *[WrittenInstruction("FFMA")] * WORK]).microbenchmark()
    for stall in (1, 2, 5, 8, 11):
        what = f"cycles of a branch to the next instruction, stall count {stall}"
        yield Slope(f"branch.next.stall{stall}", what, [WrittenInstruction("BRA", stall=stall)]).microbenchmark()
    for over in (1, 2, 3, 4, 7):
        code = [WrittenInstruction("BRA", target=over * BYTES, stall=FOR_A_BRANCH), *[WrittenInstruction("NOP")] * over]
        yield Slope(f"branch.skip{over}", f"cycles of a branch over {over} instructions", code).microbenchmark()
    for name, code in {"bssy": [WrittenInstruction("BSSY", target=BYTES)], "bsync": _EMPTY_REGION}.items():
        yield Slope(f"branch.{name}", f"cycles of {' and '.join(str(one) for one in code)} alone", code).microbenchmark()


def _around(name: str, who: str, lanes: Iterable[int], work: int) -> Microbenchmark:
    """A branch over some instructions that some of the lanes take, and where they meet."""
    code = [
        _COMPARED,
        WrittenInstruction("BSSY", target=(work + 2) * BYTES),
        WrittenInstruction("BRA", guard=0, target=work * BYTES, stall=FOR_A_BRANCH),
        *[WrittenInstruction("FFMA")] * work,
        WrittenInstruction("BSYNC", stall=FOR_A_BRANCH),
    ]
    values = np.zeros_like(RANDOM_VALUES)
    values[:, list(lanes)] = 1
    what = f"cycles of a comparison, a branch over {work} FFMAs that {who} of the lanes take, and BSYNC"
    return Slope(name, what, code, inputs=values).microbenchmark()
