"""How values are used: how often each is read, and how soon those that are read once.

A value is what one thread writes to one of its registers. Its lifetime counts the instructions of the thread from the one that
made it to the one that reads it: read by the very next, 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.compiler.code.instruction import Code
from warploom.compiler.code.lanes import LANES
from warploom.compiler.code.table import static_table
from warploom.emulator.trace.format import Trace
from warploom.jit import njit

READS = 4  # never, once, twice, more often
LIFETIMES = 4  # 1, 2, 3, longer


@dataclass(frozen=True)
class ValueUsage:
    """Values by the number of their reads, and those read once by their lifetime."""

    reads: tuple[int, ...]  # never, once, twice, more often
    lifetimes: tuple[int, ...]  # of the values read once: 1, 2, 3, more instructions

    @property
    def values(self) -> int:
        return sum(self.reads)


@njit
def _end_value(made: Any, reads: Any, distance: Any, register: int, lane: int, by_reads: Any, by_lifetime: Any) -> None:
    """Count a value whose register is written again or whose thread has ended."""
    if made[register, lane] >= 0:
        times = reads[register, lane]
        by_reads[min(times, READS - 1)] += 1
        if times == 1:
            by_lifetime[min(distance[register, lane], LIFETIMES) - 1] += 1


@njit
def _count(code: Any, pc: Any, mask: Any, start: Any, registers: int) -> Any:
    by_reads = np.zeros(READS, np.int64)
    by_lifetime = np.zeros(LIFETIMES, np.int64)
    made = np.zeros((registers, LANES), np.int64)
    reads = np.zeros((registers, LANES), np.int64)
    distance = np.zeros((registers, LANES), np.int64)
    executed = np.zeros(LANES, np.int64)
    for warp in range(len(start) - 1):
        made[:] = -1
        executed[:] = 0
        for index in range(start[warp], start[warp + 1]):
            row = code[pc[index]]
            lanes = mask[index]
            for lane in range(LANES):
                if (lanes >> np.uint32(lane)) & np.uint32(1) == 0:
                    continue
                now = executed[lane]
                executed[lane] += 1
                for operand in range(row.n_reads):
                    register = row.reads[operand]
                    if made[register, lane] >= 0:
                        reads[register, lane] += 1
                        distance[register, lane] = now - made[register, lane]
                for number in range(row.n_writes):
                    register = row.writes[number]
                    _end_value(made, reads, distance, register, lane, by_reads, by_lifetime)
                    made[register, lane] = now
                    reads[register, lane] = 0
        for register in range(registers):
            for lane in range(LANES):
                _end_value(made, reads, distance, register, lane, by_reads, by_lifetime)
    return by_reads, by_lifetime


def value_usage(code: Code, trace: Trace) -> ValueUsage:
    """What became of every value that the threads of a launch wrote."""
    table = static_table(code)
    registers = 1 + max((int(table[name].max(initial=0)) for name in ("reads", "writes")), default=0)
    pc, mask = np.asarray(trace.pc), np.asarray(trace.mask)
    start = np.ascontiguousarray(trace.start["instruction"])
    by_reads, by_lifetime = _count(table.view(np.recarray), pc, mask, start, registers)
    return ValueUsage(tuple(map(int, by_reads)), tuple(map(int, by_lifetime)))
