"""Live ranges of value instances, and the reads that end them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from warploom.compiler.code.convergence import partings
from warploom.compiler.code.divergence import Divergence
from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.liveness import Liveness, thread_liveness
from warploom.compiler.code.slots import bits
from warploom.compiler.code.values import Value, Values, value_instances


@dataclass(slots=True)
class LiveRange:
    """Where one value instance is live."""

    value: Value
    before: int = 0  # bit mask over pcs: live before that instruction
    after: int = 0  # live after it
    last_uses: list[int] = field(default_factory=list)  # the reads after which nobody needs the value

    @property
    def length(self) -> int:
        """Before how many instructions the value is live: a static estimate of its lifetime."""
        return self.before.bit_count()


class LiveRanges:
    """The live ranges of all value instances, of a thread or (given a divergence analysis) of a warp.

    `by_arm` means for a warp what it means in `warp_liveness`.
    """

    def __init__(self, code: Code, divergence: Divergence | None = None, graph: FlowGraph | None = None, *, by_arm: bool = False):
        self.code = code
        self._by_arm = by_arm
        self.graph = graph or flow_graph(code)
        self.values: Values = divergence.values if divergence else value_instances(code, self.graph)
        self.liveness: Liveness = thread_liveness(code, self.graph)
        self.ranges = [LiveRange(value) for value in self.values]
        self._starts = code.block_starts()
        for number in range(len(code.blocks)):
            self._trace_block(number)
        if divergence is not None:
            self._hold(divergence)
        for extent in self.ranges:
            uses = dict.fromkeys(extent.value.uses)
            extent.last_uses = [pc for pc in uses if not extent.after >> pc & 1]

    def __iter__(self) -> Iterator[LiveRange]:
        return iter(self.ranges)

    def __getitem__(self, value: Value) -> LiveRange:
        return self.ranges[value.number]

    def _trace_block(self, number: int) -> None:
        before, after = self.liveness.before, self.liveness.after
        holder: dict[int, Value | None] = {}
        for pc in range(self._starts[number], self._starts[number + 1]):
            for slot in bits(before[pc]):
                value = holder.get(slot) or self.values.entering(number, slot)
                if value is not None:
                    self.ranges[value.number].before |= 1 << pc
            access = self.values.accesses[number][pc - self._starts[number]]
            for slot in bits(access.writes):
                holder[slot] = self.values.defined[pc, slot]
            for slot in bits(after[pc]):
                value = holder.get(slot) or self.values.entering(number, slot)
                if value is not None:
                    self.ranges[value.number].after |= 1 << pc

    def _hold(self, divergence: Divergence) -> None:
        """Extend ranges over the arms in which waiting lanes may need the value."""
        for parting in partings(self.graph, divergence.branches).values():
            for arm, waiting in parting.arms if self._by_arm else ((parting.region, parting.waiting),):
                extent = 0
                for block in arm:
                    extent |= (1 << self._starts[block + 1]) - (1 << self._starts[block])
                for block in waiting:
                    for slot in bits(self.liveness.block_in[block]):
                        value = self.values.entering(block, slot)
                        if value is not None:
                            self.ranges[value.number].before |= extent
                            self.ranges[value.number].after |= extent
