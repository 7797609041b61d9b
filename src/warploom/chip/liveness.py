"""Perfect liveness from the trace: which dynamic read is the last one of a value, seen from the end of each warp's stream.

``last`` has one entry of 16 bits per dynamic instruction: bit n, the value of read operand n is not needed any more after it;
bit 8 + n, the value of written register n is needed by nobody. A value is needed by lanes: a write under a mask ends the need
of its own lanes only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.chip.sm.columns import DEAD_WRITE
from warploom.compiler.code.wide import MAX_RUNS
from warploom.jit import njit


@njit
def _need_runs(needed: Any, row: Any, lanes: Any) -> None:
    """An instruction with many registers ends the need of its results and needs its operands; no read is told to be last."""
    for number in range(row.results):
        needed[row.result + number] &= ~lanes
    for number in range(row.results):
        if row.addend >= 0:
            needed[row.addend + number] |= lanes
    for run in range(MAX_RUNS):
        for number in range(row.run_count[run]):
            needed[row.run_first[run] + number] |= lanes


@njit
def last_uses(code: Any, pc: Any, mask: Any, start: Any) -> Any:
    """The column ``last`` of a trace."""
    last = np.zeros(len(pc), np.uint16)
    registers = 0
    for row in code:
        for write in range(row.n_writes):
            registers = max(registers, row.writes[write] + 1)
        for read in range(row.n_reads):
            registers = max(registers, row.reads[read] + 1)
        registers = max(registers, row.result + row.results, row.addend + row.results)
        for run in range(MAX_RUNS):
            registers = max(registers, row.run_first[run] + row.run_count[run])
    needed = np.zeros(registers, np.uint32)
    for warp in range(len(start) - 1):
        needed[:] = 0
        for index in range(start[warp + 1].instruction - 1, start[warp].instruction - 1, -1):
            row = code[pc[index]]
            lanes = mask[index]
            bits = 0
            for write in range(row.n_writes):
                register = row.writes[write]
                if needed[register] == 0:
                    bits |= 1 << (DEAD_WRITE + write)
                needed[register] &= ~lanes
            for read in range(row.n_reads):
                if needed[row.reads[read]] == 0:
                    bits |= 1 << read
            for read in range(row.n_reads):
                needed[row.reads[read]] |= lanes if lanes != 0 else np.uint32(1)  # read by the hardware all the same
            if row.wide:
                _need_runs(needed, row, lanes)
            last[index] = bits
    return last
