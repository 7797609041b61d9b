"""What a compiler can tell an operand window about every result, as bits of the instruction.

* ``transient``: whatever path is taken, the value is dead when its instruction leaves the window, so that the register file
  never needs it;
* ``unread``: no path reads it in the window, so that the window need not keep it;
* ``rest_needed``: lanes that the instruction may leave out still need the register's old value, so that a result under a
  partial mask cannot stand for the whole register.

``unread`` is a hint, whose being wrong costs traffic and never a value; ``transient`` and ``rest_needed`` must be right.
"""

from __future__ import annotations

import numpy as np

from warploom.base.records import Record, dtype_of, u1
from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.liveness import Liveness
from warploom.compiler.code.warp import warp_liveness


class Hints(Record):
    """A bit for each result of an instruction."""

    transient: u1
    unread: u1
    rest_needed: u1


def window_hints(code: Code, table: np.ndarray, window: int) -> np.ndarray:
    """One record of `Hints` per instruction, for a window of so many instructions.

    Code whose registers are not allocated one by one (literal code) gets none of the hints.
    """
    hints = np.zeros(len(table), dtype_of(Hints))
    if not code.allocated or code.literal:
        hints["rest_needed"] = 0xFF
        return hints
    paths = _Paths(code)
    pc = 0
    for number, accesses in enumerate(paths.live.accesses):
        held = paths.live.held[number]
        for place, access in enumerate(accesses):
            kept = held | (paths.live.before[pc] if access.kills != access.writes else 0)
            for write, register in enumerate(table[pc]["writes"][: table[pc]["n_writes"]]):
                read, needed = paths.after(number, place + 1, 1 << int(register), max(0, window - 1))
                hints[pc]["transient"] |= (not needed) << write
                hints[pc]["unread"] |= (not read) << write
                hints[pc]["rest_needed"] |= (kept >> int(register) & 1) << write
            pc += 1
    return hints


class _Paths:
    """The next few instructions after a point of a kernel, along all paths."""

    def __init__(self, code: Code) -> None:
        self.graph: FlowGraph = flow_graph(code)
        self.live: Liveness = warp_liveness(code, self.graph)
        self.first = code.block_starts()

    def after(self, block: int, place: int, register: int, steps: int) -> tuple[bool, bool]:
        """Whether some path reads a register (a mask of one slot) within so many steps, and whether one needs it after them."""
        accesses, held = self.live.accesses[block], self.live.held[block]
        read = False
        while place < len(accesses):
            if steps == 0:
                return read, bool(self.live.before[self.first[block] + place] & register)
            access = accesses[place]
            read |= bool(access.reads & register)
            if access.kills & register and not held & register:
                return read, False
            place += 1
            steps -= 1
        if held & register:  # lanes that wait need it, whatever comes next
            return read, True
        found = [self.after(successor, 0, register, steps) for successor in self.graph.successors[block]]
        return read or any(one for one, _ in found), any(needed for _, needed in found)
