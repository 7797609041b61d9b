"""Which registers of a thread hold a value that will still be read.

A register is live where some path reads it before a write that certainly happens; a register that no path has written is not
live. A guarded write kills nothing. What a whole warp needs is in `warploom.compiler.code.warp`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.slots import SlotAccess, Slots, slots_of


@dataclass
class Liveness:
    """Live slots (see `warploom.compiler.code.slots`) at every point of a kernel, as bit masks."""

    slots: Slots
    accesses: list[list[SlotAccess]]  # per block
    block_in: list[int]
    block_out: list[int]
    defined_in: list[int]  # slots that some path has written before the block
    held: list[int]  # per block, what waiting lanes of the warp need; zeros for the liveness of a thread

    @cached_property
    def _points(self) -> tuple[list[int], list[int]]:
        before: list[int] = []
        after: list[int] = []
        for number, accesses in enumerate(self.accesses):
            live, held = self.block_out[number], self.held[number]
            defined = self.defined_in[number]
            defined_after = []
            for access in accesses:
                defined |= access.writes
                defined_after.append(defined)
            block_before, block_after = [0] * len(accesses), [0] * len(accesses)
            for place in range(len(accesses) - 1, -1, -1):
                access = accesses[place]
                block_after[place] = live & defined_after[place] | held
                live = live & ~access.kills | access.reads
                block_before[place] = live & (defined_after[place - 1] if place else self.defined_in[number]) | held
            before += block_before
            after += block_after
        return before, after

    @property
    def before(self) -> list[int]:
        """Per pc, the slots live before the instruction."""
        return self._points[0]

    @property
    def after(self) -> list[int]:
        """Per pc, the slots live after the instruction."""
        return self._points[1]

    @cached_property
    def occupied(self) -> list[int]:
        """Per pc, the slots that need a place: those before the instruction or, if more, after it with all its results."""
        return [self._larger(b, a | w) for b, a, w in zip(self.before, self.after, self._writes, strict=True)]

    def _larger(self, before: int, after: int) -> int:
        return before if self.slots.pressure(before) >= self.slots.pressure(after) else after

    @cached_property
    def pressure(self) -> list[int]:
        """Per pc, how many 32-bit registers must be held: the larger of before the instruction and after it."""
        return [self.slots.pressure(mask) for mask in self.occupied]

    @property
    def max_live(self) -> int:
        """The most 32-bit registers live at once: no allocation can do with fewer."""
        return max(self.pressure, default=0)

    @cached_property
    def max_predicates(self) -> int:
        """The most predicates live at once."""
        masks = [*self.before, *(a | w for a, w in zip(self.after, self._writes, strict=True))]
        return max(map(self.slots.predicate_pressure, masks), default=0)

    @property
    def _writes(self) -> list[int]:
        return [access.writes for accesses in self.accesses for access in accesses]


def thread_liveness(code: Code, graph: FlowGraph | None = None) -> Liveness:
    """The liveness of one thread's registers."""
    graph = graph or flow_graph(code)
    slots, accesses = slots_of(code)
    count = len(graph)
    exposed, killed, written = [0] * count, [0] * count, [0] * count
    for number, block in enumerate(accesses):
        reads = kills = writes = 0
        for access in block:
            reads |= access.reads & ~kills
            kills |= access.kills
            writes |= access.writes
        exposed[number], killed[number], written[number] = reads, kills, writes
    defined_in = _reached(graph, written)
    block_in, block_out = [0] * count, [0] * count
    changed = True
    while changed:
        changed = False
        for number in reversed(graph.order):
            live = 0
            for successor in graph.successors[number]:
                live |= block_in[successor]
            block_out[number] = live
            live = (live & ~killed[number] | exposed[number]) & defined_in[number]
            if live != block_in[number]:
                block_in[number] = live
                changed = True
    return Liveness(slots, accesses, block_in, block_out, defined_in, [0] * count)


def _reached(graph: FlowGraph, written: list[int]) -> list[int]:
    """Per block, the slots that some path has written before it."""
    defined_in = [0] * len(graph)
    changed = True
    while changed:
        changed = False
        for number in graph.order:
            defined = 0
            for predecessor in graph.predecessors[number]:
                defined |= defined_in[predecessor] | written[predecessor]
            if defined != defined_in[number]:
                defined_in[number] = defined
                changed = True
    return defined_in
