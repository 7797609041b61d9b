"""Merges the two ends of copies where that cannot make the graph harder to colour.

The tests are those of Briggs (the merged node has few neighbours of significant degree) and George (every neighbour of one
end is insignificant or a neighbour of the other already). Degrees are counted without the nodes that simplification would
remove first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warploom.compiler.backend.interference import Affinity, Interference
from warploom.compiler.code.instruction import Bank
from warploom.compiler.code.slots import bits


@dataclass
class Coalesced:
    """A graph whose merged nodes are empty shells: `leader` gives the node that stands for each."""

    graph: Interference
    leader: list[int]


def coalesce(graph: Interference, colours: int, predicate_colours: int) -> Coalesced:
    """Merge same-bank copies conservatively for a given number of registers; the others remain as affinities."""
    leader = list(range(len(graph)))
    adjacent = graph.adjacent[:]
    merged = Interference(graph.registers, adjacent, [])
    core = _core(merged, colours, predicate_colours, _moved(graph.affinities))

    def find(node: int) -> int:
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    pending = sorted((a for a in graph.affinities if a.same_bank), key=lambda affinity: -affinity.weight)
    progress = True
    while progress and pending:
        progress = False
        waiting = []
        significant = _significant(merged, core, colours, predicate_colours)
        for affinity in pending:
            a, b = find(affinity.a), find(affinity.b)
            if a == b or adjacent[a] >> b & 1:
                continue
            if adjacent[a].bit_count() < adjacent[b].bit_count():
                a, b = b, a
            limit = predicate_colours if graph.predicates >> a & 1 else colours
            if not _safe(merged, a, b, significant, limit):
                waiting.append(affinity)
                continue
            leader[b] = a
            bit_a, bit_b = 1 << a, 1 << b
            for other in bits(adjacent[b]):
                adjacent[other] = adjacent[other] & ~bit_b | bit_a
                # A neighbour of both ends lost a neighbour, which can only make it easier to colour.
            adjacent[a] |= adjacent[b]
            adjacent[b] = 0
            if core >> b & 1:
                core = core & ~bit_b | bit_a
            if merged.needs(a, core) > limit:
                significant |= bit_a
            progress = True
        pending = waiting
        core = _core(merged, colours, predicate_colours, _moved(pending, find))
    merged.affinities = [
        Affinity(find(a.a), find(a.b), a.word, a.same_bank, a.weight)
        for a in graph.affinities
        if find(a.a) != find(a.b) and not adjacent[find(a.a)] >> find(a.b) & 1
    ]
    return Coalesced(merged, [find(node) for node in range(len(graph))])


def _safe(graph: Interference, a: int, b: int, significant: int, colours: int) -> bool:
    adjacent = graph.adjacent
    if not adjacent[b] & ~adjacent[a] & significant or not adjacent[a] & ~adjacent[b] & significant:
        return True  # George
    heavy = (adjacent[a] | adjacent[b]) & significant
    if graph.wide >> a & 1:
        return 2 * heavy.bit_count() + 2 <= colours  # Briggs, for pairs
    return heavy.bit_count() + (heavy & graph.wide).bit_count() < colours  # Briggs


def _moved(affinities: list[Affinity], find: Callable[[int], int] = lambda node: node) -> int:
    """The nodes that copies of one bank touch."""
    mask = 0
    for affinity in affinities:
        if affinity.same_bank:
            mask |= 1 << find(affinity.a) | 1 << find(affinity.b)
    return mask


def _significant(graph: Interference, core: int, colours: int, predicate_colours: int) -> int:
    mask = 0
    for node in bits(core):
        if graph.needs(node, core) > (predicate_colours if graph.predicates >> node & 1 else colours):
            mask |= 1 << node
    return mask


def _core(graph: Interference, colours: int, predicate_colours: int, moved: int) -> int:
    """What remains when nodes that no copy touches and that can always be coloured last are taken away, repeatedly."""
    core = (1 << len(graph)) - 1
    wide = [register.bank is Bank.D for register in graph.registers]
    # How many registers too many each node needs among those that remain. It only falls, so the order does not matter.
    excess: dict[int, int] = {}
    for node in set(range(len(graph))).difference(bits(moved)):
        limit = predicate_colours if graph.registers[node].bank is Bank.P else colours
        excess[node] = graph.needs(node) - limit
    ready = [node for node, too_many in excess.items() if too_many <= 0]
    while ready:
        node = ready.pop()
        core &= ~(1 << node)
        weight = 2 if wide[node] else 1
        for other in bits(graph.adjacent[node]):
            before = excess.get(other, 0)
            if before > 0:
                excess[other] = before - (2 if wide[other] else weight)
                if excess[other] <= 0:
                    ready.append(other)
    return core
