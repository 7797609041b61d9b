"""Colours an interference graph: one register, or an aligned pair, or a predicate for each node, as few as possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warploom.backend.interference import Affinity, Interference
from warploom.code.slots import bits

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


def colour_graph(graph: Interference, nodes: list[int], least: int, limit: int, predicate_limit: int) -> Colouring:
    """Colour `nodes` (listed in order of definition along dominators) with few registers, `least` being a known lower bound.

    In the order of definition a greedy choice is optimal wherever live ranges form trees under dominance. Where they do not, the
    smallest-last order is tried, and then nodes that needed too much are moved to the front.
    """
    touching = _touching(graph)

    def attempt(order: list[int]) -> Colouring:
        return _select(graph, order, least, limit, predicate_limit, touching)

    best = attempt(nodes)
    if best.good_enough(least):
        return best
    best = _mended(graph, nodes, best, least, attempt)
    for make_order in (smallest_last, _pairs_first):
        if best.good_enough(least):
            break
        order = make_order(graph, nodes)
        best = min(best, _mended(graph, order, attempt(order), least, attempt), key=Colouring.quality)
    return best


def _mended(
    graph: Interference, order: list[int], first: Colouring, least: int, attempt: Callable[[list[int]], Colouring]
) -> Colouring:
    """The best of what comes of colouring in an order, again and again with the nodes that needed too much moved to its front."""
    best = found = first
    patience = _PATIENCE
    while patience and not best.good_enough(least):
        late = [
            node
            for node in order
            if found.colours[node] < 0 or (not graph.predicates >> node & 1 and _top(graph, node, found.colours[node]) > least)
        ]
        moved = set(late)
        order = late + [node for node in order if node not in moved]
        found = attempt(order)
        patience -= 1
        if found.quality() < best.quality():
            best, patience = found, _PATIENCE
    return best


def _pairs_first(graph: Interference, nodes: list[int]) -> list[int]:
    return sorted(nodes, key=lambda node: not graph.wide >> node & 1)


def smallest_last(graph: Interference, nodes: list[int]) -> list[int]:
    """The order in which each node has the fewest neighbours among those before it: the reverse of simplification."""
    remaining = sum(1 << node for node in nodes)
    needs = {node: graph.needs(node, remaining) for node in nodes}
    buckets: dict[int, list[int]] = {}
    for node in nodes:
        buckets.setdefault(needs[node], []).append(node)
    removed: list[int] = []
    level = 0
    while len(removed) < len(nodes):
        bucket = buckets.get(level)
        if not bucket:
            level += 1
            continue
        node = bucket.pop()
        if not remaining >> node & 1 or needs[node] != level:
            continue
        remaining &= ~(1 << node)
        removed.append(node)
        weight_narrow = 2 if graph.wide >> node & 1 else 1
        for other in bits(graph.adjacent[node] & remaining):
            needs[other] -= 2 if graph.wide >> other & 1 else weight_narrow
            buckets.setdefault(needs[other], []).append(other)
            level = min(level, needs[other])
    removed.reverse()
    return removed


def _top(graph: Interference, node: int, colour: int) -> int:
    return colour + (2 if graph.wide >> node & 1 else 1)


def _touching(graph: Interference) -> dict[int, list[Affinity]]:
    touching: dict[int, list[Affinity]] = {}
    for affinity in sorted(graph.affinities, key=lambda a: -a.weight):
        touching.setdefault(affinity.a, []).append(affinity)
        touching.setdefault(affinity.b, []).append(affinity)
    return touching


def _select(
    graph: Interference, order: list[int], least: int, limit: int, predicate_limit: int, touching: dict[int, list[Affinity]]
) -> Colouring:
    """Give each node in turn a free colour: one that makes a copy vanish, else one that leaves pairs whole, else the lowest."""
    colours = [-1] * len(graph)
    holders = [0] * (limit + 1)  # per register, the nodes that have it
    predicate_holders = [0] * predicate_limit
    hints: dict[int, int] = {}  # uncoloured wide node -> the pair that its halves were placed for
    failed = []
    top = predicate_top = 0
    width = min(max(least, 1), limit)  # registers in use; grows only when it must
    for node in order:
        neighbours = graph.adjacent[node]
        if graph.predicates >> node & 1:
            free = [colour for colour in range(predicate_limit) if not predicate_holders[colour] & neighbours]
            if not free:
                failed.append(node)
                continue
            wanted = [colours[a.b if a.a == node else a.a] for a in touching.get(node, ())]
            colour = next((colour for colour in wanted if colour in free), free[0])
            colours[node] = colour
            predicate_holders[colour] |= 1 << node
            predicate_top = max(predicate_top, colour + 1)
            continue
        wide = graph.wide >> node & 1
        taken = 0
        for colour in range(width):
            if holders[colour] & neighbours:
                taken |= 1 << colour
        while True:
            colour = _choose(graph, node, taken, width, touching, colours, hints, holders)
            if colour >= 0 or width >= limit:
                break
            width += 1
        if colour < 0:
            failed.append(node)
            continue
        colours[node] = colour
        holders[colour] |= 1 << node
        if wide:
            holders[colour + 1] |= 1 << node
        top = max(top, colour + (2 if wide else 1))
    return Colouring(colours, top, predicate_top, failed)


def _choose(
    graph: Interference,
    node: int,
    taken: int,
    width: int,
    touching: dict[int, list[Affinity]],
    colours: list[int],
    hints: dict[int, int],
    holders: list[int],
) -> int:
    """The best free colour below `width`; -1 when there is none."""
    wide = graph.wide >> node & 1
    free = ~taken & ((1 << width) - 1)
    if wide:
        free &= free >> 1 & _EVEN
    if not free:
        return -1
    for affinity in touching.get(node, ()):
        wanted = _wanted(node, affinity, colours, hints)
        if wanted >= 0 and free >> wanted & 1:
            return wanted
    if wide:
        return (free & -free).bit_length() - 1
    for affinity in touching.get(node, ()):
        if not affinity.same_bank and affinity.a not in hints and colours[affinity.a] < 0:
            pair = _pair_for(graph, affinity, free, width, holders)
            if pair >= 0:
                hints[affinity.a] = pair
                return pair + affinity.word
    if not graph.wide:
        return (free & -free).bit_length() - 1
    # A register whose buddy is taken is of no use to a pair: fill those first.
    buddies_taken = ((taken & _EVEN) << 1 | (taken >> 1) & _EVEN) & free
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


def _pair_for(graph: Interference, affinity: Affinity, free: int, width: int, holders: list[int]) -> int:
    """A pair that the wide end could have, in which the narrow end's word is free as well; -1 when there is none."""
    neighbours = graph.adjacent[affinity.a]
    for pair in range(0, width - 1, 2):
        if free >> (pair + affinity.word) & 1 and not (holders[pair] | holders[pair + 1]) & neighbours:
            return pair
    return -1
