"""The order in which a whole warp executes blocks, which is more than the order in which one thread does.

A warp executes the arms of a divergent branch one after the other: when the lanes of one arm have reached the point where the
lanes meet, or have all exited, the warp turns to another arm, never to the same. A state of the warp rather than of a thread,
such as whether it holds extended registers, flows along these edges too.
"""

from __future__ import annotations

from warploom.code.divergence import reached
from warploom.code.dominators import immediate_post_dominators
from warploom.code.graph import FlowGraph


def warp_predecessors(graph: FlowGraph, divergent: frozenset[int]) -> list[frozenset[int]]:
    """Per block, those that the warp may have executed just before it; `divergent` blocks end in a divergent branch."""
    post = immediate_post_dominators(graph)
    before = [set(blocks) for blocks in graph.predecessors]
    exits = frozenset(graph.exits)
    for branch in divergent:
        meeting = post[branch]
        parts = {
            successor: reached(graph, (successor,), meeting) for successor in graph.successors[branch] if successor != meeting
        }
        region = frozenset().union(*parts.values())
        ends = {block for block in region if meeting in graph.successors[block] or block in exits}
        for start in parts:
            others = frozenset().union(*(blocks for other, blocks in parts.items() if other != start))
            before[start] |= ends & others
        if meeting < len(graph):
            before[meeting] |= ends & exits
    return [frozenset(blocks) for blocks in before]
