"""The order in which a whole warp executes blocks, which is more than the order in which one thread does.

A warp executes the arms of a divergent branch one after the other: when the lanes of one arm wait for others, at the point where
all meet or before, or have all exited, the warp turns to another arm, never to the same. A state of the warp rather than of a
thread, such as whether it holds extended registers, flows along these edges too.
"""

from __future__ import annotations

from warploom.compiler.code.convergence import partings
from warploom.compiler.code.graph import FlowGraph


def warp_predecessors(graph: FlowGraph, divergent: frozenset[int]) -> list[frozenset[int]]:
    """Per block, those that the warp may have executed just before it; `divergent` blocks end in a divergent branch."""
    before = [set(blocks) for blocks in graph.predecessors]
    for parting in partings(graph, divergent).values():
        for arm, waiting in parting.arms:
            for block in waiting:
                before[block] |= parting.ends & arm
    return [frozenset(blocks) for blocks in before]
