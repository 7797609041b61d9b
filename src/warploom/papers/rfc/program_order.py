"""Reads that a cache for every warp avoids, counted along each warp of a trace.

Entries are given out in program order, so that this is what the timing model counts too, whatever its latencies. Here uniform
registers, which the paper's machine code has not, can be taken for registers of the thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.lib.recfunctions import append_fields

from warploom.code.instruction import Bank, Code, Reg
from warploom.code.lanes import FULL
from warploom.code.table import MAX_READS, MAX_WRITES, static_table
from warploom.jit import njit
from warploom.papers.rfc.cache_hints import cache_hints
from warploom.trace.format import Trace

FIRST_UNIFORM = 256  # number of the first uniform register, behind those of the thread
UNIFORM_WORDS = {Bank.U: 1, Bank.UD: 2, Bank.UQ: 4}
MOST_UNIFORM = 8  # uniform operands, or results, of an instruction
ACCESSES_DTYPE = np.dtype(
    [
        ("n_reads", "u1"),
        ("n_writes", "u1"),
        ("reads", "i2", (MAX_READS + MOST_UNIFORM,)),
        ("writes", "i2", (MAX_WRITES + MOST_UNIFORM,)),
        ("rest_needed", "u1"),  # of the thread's registers: a bit for each result of which other lanes keep the old value
    ]
)


@njit
def _count(code: Any, pc: Any, mask: Any, start: Any, entries: int) -> Any:
    reads, avoided = 0, 0
    held = np.zeros(entries, np.int64)  # registers, the oldest first; -1: none
    lanes = np.zeros(entries, np.uint32)
    for warp in range(len(start) - 1):
        held[:] = -1
        for index in range(start[warp], start[warp + 1]):
            row = code[pc[index]]
            for operand in range(row.n_reads):
                reads += 1
                for way in range(entries):
                    if held[way] == row.reads[operand]:
                        if mask[index] & ~lanes[way] == 0:
                            avoided += 1
                        else:
                            held[way] = -1  # written down, so that all lanes can be read below
            for number in range(row.n_writes):
                brought = FULL
                if number < MAX_WRITES and row.rest_needed >> number & 1 != 0:
                    brought = mask[index]
                place = -1
                for way in range(entries):
                    if held[way] == row.writes[number]:
                        place = way
                        brought |= lanes[way]
                for way in range(entries):  # an empty entry is taken before the oldest
                    if place < 0 and held[way] < 0:
                        place = way
                for way in range(max(place, 0), entries - 1):
                    held[way], lanes[way] = held[way + 1], lanes[way + 1]
                held[entries - 1], lanes[entries - 1] = row.writes[number], brought
    return avoided, reads


def reads_avoided(code: Code, trace: Trace, entries: int, *, uniform: bool = False) -> tuple[int, int]:
    """Reads of a launch that a cache of so many entries avoids, and all reads; ``uniform``: also those of uniform registers."""
    accesses = _accesses(code, uniform)
    start = np.ascontiguousarray(trace.start["instruction"])
    avoided, reads = _count(accesses.view(np.recarray), np.asarray(trace.pc), np.asarray(trace.mask), start, entries)
    return int(avoided), int(reads)


def _accesses(code: Code, uniform: bool) -> np.ndarray:
    """The registers that each instruction reads and writes."""
    table = static_table(code)
    slow = np.zeros(len(table), bool)  # which loads are slow matters to other hints than the one that is needed here
    hints = cache_hints(code, append_fields(table, "slow", slow, usemask=False))
    accesses = np.zeros(len(table), ACCESSES_DTYPE)
    for row, static, hint, instruction in zip(accesses, table, hints, code.instructions(), strict=True):
        reads, writes = list(static["reads"][: static["n_reads"]]), list(static["writes"][: static["n_writes"]])
        if uniform:
            reads, writes = reads + _uniform(instruction.reads), writes + _uniform(instruction.dsts)
        row["n_reads"], row["n_writes"], row["rest_needed"] = len(reads), len(writes), hint["rest_needed"]
        row["reads"][: len(reads)], row["writes"][: len(writes)] = reads, writes
    return accesses


def _uniform(registers: Iterable[Reg]) -> list[int]:
    """Numbers of the uniform registers among some."""
    words = [
        FIRST_UNIFORM + register.number + word for register in registers for word in range(UNIFORM_WORDS.get(register.bank, 0))
    ]
    return words[:MOST_UNIFORM]
