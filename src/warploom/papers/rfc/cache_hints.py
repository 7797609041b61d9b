"""What a compiler can tell a register file cache about every operand, as bits of the instruction.

Four bits, each a static approximation of what only the execution knows:

* ``last_use`` of a read: no lane of the warp reads the value after it, on any path. Conservative: a value that dies on the path
  taken but not on all of them keeps its bit clear.
* ``cold`` of a read: the value is not read again before the warp's next suspension.
* ``unread`` of a result: it is not read before the warp's next suspension.
* ``rest_needed`` of a result: lanes that the instruction may leave out still need the register's old value, so that a result
  under a partial mask cannot stand for the whole register.

A suspension is where an instruction may consume the result of a slow load (global, local or texture memory) that nothing has
waited for yet; when the warp comes back, all loads issued before have arrived, for memory answers nearly in order. ``cold`` and
``unread`` are hints, whose being wrong costs traffic and never a value; ``last_use`` and ``rest_needed`` must be right.
"""

from __future__ import annotations

import numpy as np

from warploom.base.records import Record, dtype_of, u1, u2
from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.liveness import Liveness
from warploom.compiler.code.slots import REGISTER_MASK, SlotAccess
from warploom.compiler.code.warp import warp_liveness


class Hints(Record):
    """A bit for each read or write of an instruction."""

    last_use: u2
    cold: u2
    unread: u1
    rest_needed: u1


def cache_hints(code: Code, table: np.ndarray) -> np.ndarray:
    """One record of `Hints` per instruction.

    ``table`` has the registers that each instruction reads and writes, and which are ``slow``, as the timing core sees them. Code
    whose registers are not allocated one by one (literal code) gets no last uses and needs the rest of every register.
    """
    hints = np.zeros(len(table), dtype_of(Hints))
    if not code.allocated or code.literal:
        hints["rest_needed"] = 0xFF
        return hints
    graph = flow_graph(code)
    live = warp_liveness(code, graph)
    soon = read_before_suspension(graph, live, suspensions(graph, live, table["slow"]))
    pc = 0
    for accesses, held in zip(live.accesses, live.held, strict=True):
        for access in accesses:
            row, hint = table[pc], hints[pc]
            # A value that this instruction overwrites for every lane is dead although its register is live afterwards.
            needed = live.after[pc] & ~(access.kills & ~held) | held
            kept = held | (live.before[pc] if access.kills != access.writes else 0)
            hint["last_use"] = _mask(row["reads"][: row["n_reads"]], live.before[pc] & ~needed)
            hint["cold"] = _mask(row["reads"][: row["n_reads"]], ~(soon[pc] & ~access.kills | held))
            hint["unread"] = _mask(row["writes"][: row["n_writes"]], ~(soon[pc] | held))
            hint["rest_needed"] = _mask(row["writes"][: row["n_writes"]], kept)
            pc += 1
    return hints


def _mask(registers: np.ndarray, chosen: int) -> int:
    """A bit for each operand whose register is among the chosen slots."""
    return sum(1 << place for place, register in enumerate(registers) if chosen >> int(register) & 1)


def suspensions(graph: FlowGraph, live: Liveness, slow: np.ndarray) -> list[bool]:
    """Per pc, whether some path brings a slow load's result here that nothing has waited for yet."""
    first = _first_pcs(live)

    def through(number: int, pending: int, found: list[bool] | None = None) -> int:
        for place, access in enumerate(live.accesses[number]):
            if pending & (access.reads | access.writes):
                pending = 0
                if found is not None:
                    found[first[number] + place] = True
            if slow[first[number] + place]:
                pending |= access.writes & REGISTER_MASK
        return pending

    entering = [0] * len(graph)
    changed = True
    while changed:
        changed = False
        for number in graph.order:
            leaving = through(number, entering[number])
            for successor in graph.successors[number]:
                if leaving & ~entering[successor]:
                    entering[successor] |= leaving
                    changed = True
    found = [False] * first[-1]
    for number in graph.order:
        through(number, entering[number], found)
    return found


def read_before_suspension(graph: FlowGraph, live: Liveness, suspends: list[bool]) -> list[int]:
    """Per pc, the slots that some path reads after the instruction and before the next suspension."""
    first = _first_pcs(live)

    def before(access: SlotAccess, after: int, suspended: bool) -> int:
        # The warp is suspended ahead of the instruction's own reads.
        return 0 if suspended else after & ~access.kills | access.reads

    arriving = [0] * len(graph)
    changed = True
    while changed:
        changed = False
        for number in reversed(graph.order):
            soon = _joined(graph, arriving, number)
            for place in range(len(live.accesses[number]) - 1, -1, -1):
                soon = before(live.accesses[number][place], soon, suspends[first[number] + place])
            if soon != arriving[number]:
                arriving[number] = soon
                changed = True
    result = [0] * first[-1]
    for number in graph.order:
        soon = _joined(graph, arriving, number)
        for place in range(len(live.accesses[number]) - 1, -1, -1):
            result[first[number] + place] = soon
            soon = before(live.accesses[number][place], soon, suspends[first[number] + place])
    return result


def _joined(graph: FlowGraph, arriving: list[int], number: int) -> int:
    soon = 0
    for successor in graph.successors[number]:
        soon |= arriving[successor]
    return soon


def _first_pcs(live: Liveness) -> list[int]:
    """The pc of each block's first instruction, and the total at the end."""
    first = [0]
    for accesses in live.accesses:
        first.append(first[-1] + len(accesses))
    return first
