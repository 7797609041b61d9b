"""Branches: what one costs that all lanes take, none, or some; the lanes meet again behind it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warploom.validation.microbenchmarks.benchmark import Microbenchmark
from warploom.validation.microbenchmarks.encoding import Instruction
from warploom.validation.microbenchmarks.slopes import RANDOM_VALUES, Slope
from warploom.validation.microbenchmarks.template import usable_registers

BYTES = 16  # of an instruction
LANES = 32
TAKEN_BY = {"all": LANES, "half": LANES // 2, "none": 0}
FOR_THE_GUARD = 13  # cycles from a comparison to a guard, as ptxas has them
FOR_A_BRANCH = 5  # stall count of branches, as ptxas has it


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    compared = Instruction("ISETP", a=usable_registers()[-1], stall=FOR_THE_GUARD)
    work = [Instruction("FFMA"), Instruction("FFMA")]
    around = [
        Instruction("BSSY", target=(len(work) + 2) * BYTES),
        Instruction("BRA", guard=0, target=len(work) * BYTES, stall=FOR_A_BRANCH),
        *work,
        Instruction("BSYNC", stall=FOR_A_BRANCH),
    ]
    for name, lanes in TAKEN_BY.items():
        values = np.zeros_like(RANDOM_VALUES)
        values[:, :lanes] = 1
        what = f"cycles of a comparison, a branch over two FFMAs that {name} of the lanes take, and BSYNC"
        yield Slope(f"branch.{name}", what, [compared, *around], inputs=values).microbenchmark()
    what = "cycles of the same comparison and two FFMAs without a branch"
    yield Slope("branch.absent", what, [compared, *work]).microbenchmark()
