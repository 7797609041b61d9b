"""Reads that a cache for every warp avoids, counted along each warp of a trace.

Entries are given out in program order, so that this is what the timing model must count too, whatever its latencies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.recfunctions import append_fields

from warploom.compiler.code.instruction import Code
from warploom.compiler.code.lanes import FULL
from warploom.compiler.code.table import static_table
from warploom.emulator.trace.format import Trace
from warploom.jit import njit
from warploom.papers.rfc.cache_hints import cache_hints


@njit
def _count(code: Any, rest_needed: Any, pc: Any, mask: Any, start: Any, entries: int) -> Any:
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
                # Of a result whose register's other lanes are needed, only the lanes that execute are in the cache.
                brought = mask[index] if rest_needed[pc[index]] >> number & 1 != 0 else FULL
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


def reads_avoided(code: Code, trace: Trace, entries: int) -> tuple[int, int]:
    """Reads of a launch that a cache of so many entries avoids, and all reads."""
    table = static_table(code)
    slow = np.zeros(len(table), bool)  # which loads are slow matters to other hints than the one that is needed here
    rest_needed = np.ascontiguousarray(cache_hints(code, append_fields(table, "slow", slow, usemask=False))["rest_needed"])
    start = np.ascontiguousarray(trace.start["instruction"])
    avoided, reads = _count(table.view(np.recarray), rest_needed, np.asarray(trace.pc), np.asarray(trace.mask), start, entries)
    return int(avoided), int(reads)
