"""List scheduling inside blocks: long operations start early, as far as the registers that the kernel needs anyway allow.

First the blocks in which the most registers are live are put in an order that needs fewer, if one is found. The most that is
then live anywhere bounds the second step, which orders every block by critical paths.
"""

from __future__ import annotations

import heapq
from bisect import insort
from dataclasses import dataclass, replace

from warploom.compiler.backend.dependences import Node, dependence_graph
from warploom.compiler.code.graph import FlowGraph
from warploom.compiler.code.instruction import Bank, Block, Code
from warploom.compiler.code.liveness import Liveness, thread_liveness
from warploom.compiler.code.slots import bits

_ENOUGH = 20  # with this many registers or fewer a Fermi SM is full of threads: there is no point in saving more
_SPENT = 16  # so many may be spent on starting loads early even if the kernel could do with fewer
_WINDOW = 48  # ready instructions looked at in one step
_MARGINS = (0, 2, 4, 8, 16)  # registers kept in reserve by successive attempts to stay within the bound
_WEIGHTS = {Bank.R: 1, Bank.D: 2, Bank.P: 0}  # 32-bit registers


def schedule(code: Code, graph: FlowGraph, limit: int) -> Code:
    """Web-split code with the instructions of each block in a better order, for at most `limit` registers if that can be had."""
    liveness = thread_liveness(code, graph)
    plans = [_Plan(block, number, liveness) for number, block in enumerate(code.blocks)]
    _lower_peaks(plans, min(limit, _ENOUGH))
    peaks = [plan.peak(plan.order) for plan in plans]
    bound = max([min(limit, _SPENT), *(registers for registers, _ in peaks)])
    predicate_bound = max((predicates for _, predicates in peaks), default=0)
    blocks = []
    for plan in plans:
        order = plan.hoisted(bound, predicate_bound)
        blocks.append(Block([plan.instructions[place] for place in order], plan.label))
    return replace(code, blocks=blocks)


def _lower_peaks(plans: list[_Plan], goal: int) -> None:
    """Reorder the blocks with the highest pressure, one after the other, until `goal` is reached or one of them resists."""
    heap = [(-plan.peak(plan.order)[0], number) for number, plan in enumerate(plans)]
    heapq.heapify(heap)
    while heap:
        peak, number = heapq.heappop(heap)
        if -peak <= goal:
            return
        plan = plans[number]
        order = plan.frugal()
        if plan.peak(order)[0] >= -peak:
            return
        plan.order = order
        heapq.heappush(heap, (-plan.peak(order)[0], number))


@dataclass(slots=True)
class _Value:
    """A value within one block: from one definition (or the block's entry) to its last use (or the block's end)."""

    weight: int
    predicate: bool
    uses: int = 0
    enters: bool = False
    leaves: bool = False


class _Plan:
    """One block, its dependences and its values."""

    def __init__(self, block: Block, number: int, liveness: Liveness):
        self.instructions, self.label = block.instructions, block.label
        self.accesses = liveness.accesses[number]
        self.order = list(range(len(self.instructions)))
        self.values: list[_Value] = []
        self.reads: list[list[int]] = []  # per instruction, the values it reads (a guarded definition reads what it may leave)
        self.writes: list[list[int]] = []
        registers = liveness.slots.registers
        current: dict[int, int] = {}

        def value(slot: int, enters: bool = False, defined: bool = True) -> int:
            bank = registers[slot].bank
            weight = _WEIGHTS[bank] if defined else 0
            self.values.append(_Value(weight, defined and bank is Bank.P, enters=enters))
            current[slot] = len(self.values) - 1
            return current[slot]

        entering = liveness.block_in[number]
        for slot in bits(entering):
            value(slot, enters=True)
        for access in self.accesses:
            needed = access.reads | access.writes & ~access.kills
            reads = [current[slot] if slot in current else value(slot, defined=False) for slot in bits(needed)]
            for index in reads:
                self.values[index].uses += 1
            self.reads.append(reads)
            self.writes.append([value(slot) for slot in bits(access.writes)])
        for slot in bits(liveness.block_out[number]):
            if slot in current:
                self.values[current[slot]].leaves = True
        self._nodes: list[Node] | None = None

    @property
    def nodes(self) -> list[Node]:
        """The dependence graph, built when first needed."""
        if self._nodes is None:
            self._nodes = dependence_graph(self.instructions, self.accesses)
        return self._nodes

    def peak(self, order: list[int]) -> tuple[int, int]:
        """The most registers and predicates live anywhere in the block in a given order."""
        tracker = _Pressure(self)
        for place in order:
            tracker.issue(place)
        return tracker.peak, tracker.predicate_peak

    def frugal(self) -> list[int]:
        """An order that keeps few values alive, made from the bottom up: what defines a live value goes as late as it can."""
        count = len(self.instructions)
        predecessors: list[list[int]] = [[] for _ in range(count)]
        waiting = [len(node.successors) for node in self.nodes]
        for place, node in enumerate(self.nodes):
            for successor in node.successors:
                predecessors[successor].append(place)
        alive = [value.leaves for value in self.values]
        ready = sorted(place for place in range(count) if not waiting[place])
        order: list[int] = []
        while ready:
            best, best_key = 0, (-(10**9), -1)
            for position in range(len(ready) - 1, max(-1, len(ready) - 1 - _WINDOW), -1):
                place = ready[position]
                freed = sum(self.values[index].weight for index in self.writes[place] if alive[index])
                opened = sum(self.values[index].weight for index in self.reads[place] if not alive[index])
                key = (freed - opened, place)
                if key > best_key:
                    best, best_key = position, key
            place = ready.pop(best)
            order.append(place)
            for index in self.writes[place]:
                alive[index] = False
            for index in self.reads[place]:
                alive[index] = True
            for predecessor in predecessors[place]:
                waiting[predecessor] -= 1
                if not waiting[predecessor]:
                    insort(ready, predecessor)
        order.reverse()
        return order

    def hoisted(self, bound: int, predicate_bound: int) -> list[int]:
        """An order by critical paths with no more than `bound` registers live; the order so far when none is found."""
        if len(self.instructions) < 3:
            return self.order
        urgency = [0] * len(self.instructions)
        for place in range(len(self.instructions) - 1, -1, -1):
            after = self.nodes[place].successors
            urgency[place] = max((cycles + urgency[successor] for successor, cycles in after.items()), default=0)
        for margin in _MARGINS:
            order = self._list_schedule(urgency, bound - margin, predicate_bound)
            peak, predicate_peak = self.peak(order)
            if peak <= bound and predicate_peak <= predicate_bound:
                return order
        return self.order

    def _list_schedule(self, urgency: list[int], bound: int, predicate_bound: int) -> list[int]:
        rank = [0] * len(self.order)
        for position, place in enumerate(self.order):
            rank[place] = position
        waiting = [node.predecessors for node in self.nodes]
        earliest = [0] * len(self.order)
        tracker = _Pressure(self)
        ready = [(-urgency[place], rank[place], place) for place in range(len(self.order)) if not waiting[place]]
        ready.sort()
        order: list[int] = []
        now = 0
        while ready:
            chosen, best_start = -1, 0
            for position, (_, _, place) in enumerate(ready[:_WINDOW]):
                registers, predicates = tracker.after(place)
                if (registers > bound and registers > tracker.registers) or (
                    predicates > predicate_bound and predicates > tracker.predicates
                ):
                    continue
                if earliest[place] <= now:
                    chosen = position
                    break
                if chosen < 0 or earliest[place] < best_start:
                    chosen, best_start = position, earliest[place]
            if chosen < 0 or tracker.registers > bound:
                # Too much is live: follow the order that is known to fit.
                chosen = min(range(len(ready)), key=lambda position: ready[position][1])
            place = ready.pop(chosen)[2]
            tracker.issue(place)
            order.append(place)
            now = max(now + 1, earliest[place] + 1)
            for successor, cycles in self.nodes[place].successors.items():
                earliest[successor] = max(earliest[successor], now - 1 + cycles)
                waiting[successor] -= 1
                if not waiting[successor]:
                    insort(ready, (-urgency[successor], rank[successor], successor))
        return order


class _Pressure:
    """How much is live while a block is issued in some order."""

    def __init__(self, plan: _Plan):
        self.plan = plan
        self.remaining = [value.uses + value.leaves for value in plan.values]
        live = [value for value in plan.values if value.enters and (value.uses or value.leaves)]
        self.registers = self.peak = sum(value.weight for value in live)
        self.predicates = self.predicate_peak = sum(value.predicate for value in live)

    def after(self, place: int) -> tuple[int, int]:
        """Registers and predicates needed if this instruction came next: results that nobody reads count too."""
        registers, predicates = self.registers, self.predicates
        values, remaining = self.plan.values, self.remaining
        for index in self.plan.reads[place]:
            if remaining[index] == 1:
                registers -= values[index].weight
                predicates -= values[index].predicate
        for index in self.plan.writes[place]:
            registers += values[index].weight
            predicates += values[index].predicate
        return registers, predicates

    def issue(self, place: int) -> None:
        """Account for an instruction."""
        values, remaining = self.plan.values, self.remaining
        during, during_predicates = self.after(place)
        self.peak, self.predicate_peak = max(self.peak, during), max(self.predicate_peak, during_predicates)
        self.registers, self.predicates = during, during_predicates
        for index in self.plan.reads[place]:
            remaining[index] -= 1
        for index in self.plan.writes[place]:
            if not remaining[index]:
                self.registers -= values[index].weight
                self.predicates -= values[index].predicate
