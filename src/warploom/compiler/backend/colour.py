"""Colours an interference graph: one register, or an aligned pair, or a predicate for each node, as few as possible."""

from __future__ import annotations

from dataclasses import dataclass

from warploom.compiler.backend.interference import Affinity, Interference
from warploom.compiler.code.instruction import Bank
from warploom.compiler.code.slots import bits

_PATIENCE = 3  # how often an order of colouring is mended without success before it is given up


@dataclass
class Colouring:
    """A colour for each node, and how many registers and predicates that takes."""

    colours: list[int]  # a pair's is its even register; -1 for a node without one
    registers: int
    predicates: int
    failed: list[int]  # nodes that found no colour within the limit

    def quality(self) -> tuple[int, int]:
        """Smaller is better."""
        return len(self.failed), self.registers

    def good_enough(self, least: int) -> bool:
        """Whether nothing better is to be had."""
        return not self.failed and self.registers <= least


class _Problem:
    """An interference graph as colouring reads it: lists instead of masks, whose cost does not grow with the whole graph."""

    def __init__(self, graph: Interference, limit: int, predicate_limit: int) -> None:
        self.limit, self.predicate_limit = limit, predicate_limit
        self.neighbours = [bits(adjacent) for adjacent in graph.adjacent]
        self.wide = [register.bank is Bank.D for register in graph.registers]
        self.predicate = [register.bank is Bank.P for register in graph.registers]
        self.any_wide = any(self.wide)
        self.touching: dict[int, list[Affinity]] = {}
        for affinity in sorted(graph.affinities, key=lambda a: -a.weight):
            self.touching.setdefault(affinity.a, []).append(affinity)
            self.touching.setdefault(affinity.b, []).append(affinity)

    def __len__(self) -> int:
        return len(self.wide)

    def top(self, node: int, colour: int) -> int:
        """How many registers it takes to give the node this colour."""
        return colour + (2 if self.wide[node] else 1)


def colour_graph(graph: Interference, nodes: list[int], least: int, limit: int, predicate_limit: int) -> Colouring:
    """Colour `nodes` (listed in order of definition along dominators) with few registers, `least` being a known lower bound.

    In the order of definition a greedy choice is optimal wherever live ranges form trees under dominance. Where they do not, the
    smallest-last order is tried, and then nodes that needed too much are moved to the front.
    """
    problem = _Problem(graph, limit, predicate_limit)
    best = _select(problem, nodes, least)
    if best.good_enough(least):
        return best
    best = _mended(problem, nodes, best, least)
    for make_order in (_smallest_last, _pairs_first):
        if best.good_enough(least):
            break
        order = make_order(problem, nodes)
        best = min(best, _mended(problem, order, _select(problem, order, least), least), key=Colouring.quality)
    return best


def _mended(problem: _Problem, order: list[int], first: Colouring, least: int) -> Colouring:
    """The best of what comes of colouring in an order, again and again with the nodes that needed too much moved to its front."""
    best = found = first
    patience = _PATIENCE
    while patience and not best.good_enough(least):
        colours = found.colours
        late = [
            node
            for node in order
            if colours[node] < 0 or (not problem.predicate[node] and problem.top(node, colours[node]) > least)
        ]
        moved = set(late)
        order = late + [node for node in order if node not in moved]
        found = _select(problem, order, least)
        patience -= 1
        if found.quality() < best.quality():
            best, patience = found, _PATIENCE
    return best


def _pairs_first(problem: _Problem, nodes: list[int]) -> list[int]:
    return sorted(nodes, key=lambda node: not problem.wide[node])


def _smallest_last(problem: _Problem, nodes: list[int]) -> list[int]:
    """The order in which each node has the fewest neighbours among those before it: the reverse of simplification."""
    wide, neighbours = problem.wide, problem.neighbours
    remaining = [False] * len(problem)
    for node in nodes:
        remaining[node] = True
    needs: dict[int, int] = {}
    buckets: dict[int, list[int]] = {}
    for node in nodes:
        around = [other for other in neighbours[node] if remaining[other]]
        needs[node] = 2 * len(around) + 2 if wide[node] else len(around) + sum(wide[other] for other in around) + 1
        buckets.setdefault(needs[node], []).append(node)
    removed: list[int] = []
    level = 0
    while len(removed) < len(nodes):
        bucket = buckets.get(level)
        if not bucket:
            level += 1
            continue
        node = bucket.pop()
        if not remaining[node] or needs[node] != level:
            continue
        remaining[node] = False
        removed.append(node)
        weight_narrow = 2 if wide[node] else 1
        for other in neighbours[node]:
            if remaining[other]:
                needs[other] -= 2 if wide[other] else weight_narrow
                buckets.setdefault(needs[other], []).append(other)
                level = min(level, needs[other])
    removed.reverse()
    return removed


def _select(problem: _Problem, order: list[int], least: int) -> Colouring:
    """Give each node in turn a free colour: one that makes a copy vanish, else one that leaves pairs whole, else the lowest."""
    limit, predicate_limit = problem.limit, problem.predicate_limit
    colours = [-1] * len(problem)
    taken = [0] * len(problem)  # per node, the colours that its neighbours have
    hints: dict[int, int] = {}  # uncoloured wide node -> the pair that its halves were placed for
    failed = []
    top = predicate_top = 0
    width = min(max(least, 1), limit)  # registers in use; grows only when it must
    for node in order:
        if problem.predicate[node]:
            free = [colour for colour in range(predicate_limit) if not taken[node] >> colour & 1]
            if not free:
                failed.append(node)
                continue
            wanted = [colours[a.b if a.a == node else a.a] for a in problem.touching.get(node, ())]
            colour = next((colour for colour in wanted if colour in free), free[0])
            predicate_top = max(predicate_top, colour + 1)
            places = 1 << colour
        else:
            while True:
                colour = _choose(problem, node, taken, width, colours, hints)
                if colour >= 0 or width >= limit:
                    break
                width += 1
            if colour < 0:
                failed.append(node)
                continue
            top = max(top, problem.top(node, colour))
            places = (3 if problem.wide[node] else 1) << colour
        colours[node] = colour
        for other in problem.neighbours[node]:
            taken[other] |= places
    return Colouring(colours, top, predicate_top, failed)


def _choose(problem: _Problem, node: int, taken: list[int], width: int, colours: list[int], hints: dict[int, int]) -> int:
    """The best free colour below `width`; -1 when there is none."""
    wide = problem.wide[node]
    free = ~taken[node] & ((1 << width) - 1)
    if wide:
        free &= free >> 1 & _EVEN
    if not free:
        return -1
    touching = problem.touching.get(node, ())
    for affinity in touching:
        wanted = _wanted(node, affinity, colours, hints)
        if wanted >= 0 and free >> wanted & 1:
            return wanted
    if wide:
        return (free & -free).bit_length() - 1
    for affinity in touching:
        if not affinity.same_bank and affinity.a not in hints and colours[affinity.a] < 0:
            pair = _pair_for(affinity, free, width, taken[affinity.a])
            if pair >= 0:
                hints[affinity.a] = pair
                return pair + affinity.word
    if not problem.any_wide:
        return (free & -free).bit_length() - 1
    # A register whose buddy is taken is of no use to a pair: fill those first.
    buddies_taken = ((taken[node] & _EVEN) << 1 | (taken[node] >> 1) & _EVEN) & free
    if width & 1:
        buddies_taken |= free & 1 << (width - 1)
    best = buddies_taken or free
    return (best & -best).bit_length() - 1


_EVEN = int("01" * 128, 2)


def _wanted(node: int, affinity: Affinity, colours: list[int], hints: dict[int, int]) -> int:
    """The colour that would make a copy of this node vanish, if its other end has one; else -1."""
    if affinity.same_bank:
        return colours[affinity.b if affinity.a == node else affinity.a]
    if affinity.a == node:  # the wide end: where its half lies decides, if that half lies right
        half = colours[affinity.b]
        return half - affinity.word if half >= 0 and half & 1 == affinity.word else hints.get(node, -1)
    pair = colours[affinity.a]
    if pair < 0:
        pair = hints.get(affinity.a, -1)
    return pair + affinity.word if pair >= 0 else -1


def _pair_for(affinity: Affinity, free: int, width: int, taken: int) -> int:
    """A pair not taken around the wide end, in which the narrow end's word is free as well; -1 when there is none."""
    for pair in range(0, width - 1, 2):
        if free >> (pair + affinity.word) & 1 and not taken >> pair & 3:
            return pair
    return -1
