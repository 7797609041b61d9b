"""Which registers a whole warp still needs.

A warp's register is live as long as any of its lanes needs its own. While one arm of a divergent branch executes, lanes of
the other arms wait: at the beginning of their arm, or already at the point of reconvergence. What they need there stays live
throughout the diverged region, whatever the executing arm writes.
"""

from __future__ import annotations

from warploom.code.divergence import analyse_divergence, divergent_region
from warploom.code.dominators import immediate_post_dominators
from warploom.code.graph import FlowGraph, flow_graph
from warploom.code.instruction import Code
from warploom.code.liveness import Liveness, thread_liveness


def warp_liveness(code: Code, graph: FlowGraph | None = None, divergent: frozenset[int] | None = None) -> Liveness:
    """The liveness of a warp's registers; `divergent` are the blocks that end in a divergent branch, analysed when not given."""
    graph = graph or flow_graph(code)
    divergent = divergent if divergent is not None else analyse_divergence(code, graph).branches
    thread = thread_liveness(code, graph)
    held = waiting_needs(graph, thread, divergent)
    block_in = [live | kept for live, kept in zip(thread.block_in, held, strict=True)]
    block_out = [live | kept for live, kept in zip(thread.block_out, held, strict=True)]
    return Liveness(thread.slots, thread.accesses, block_in, block_out, thread.defined_in, held)


def waiting_needs(graph: FlowGraph, thread: Liveness, divergent: frozenset[int]) -> list[int]:
    """Per block, the slots that waiting lanes may need while others execute it."""
    post = immediate_post_dominators(graph)
    held = [0] * len(graph)
    for branch in sorted(divergent):
        needed = thread.block_in[post[branch]] if post[branch] < len(graph) else 0
        for successor in graph.successors[branch]:
            needed |= thread.block_in[successor]
        for block in divergent_region(graph, post, branch):
            held[block] |= needed
    return held
