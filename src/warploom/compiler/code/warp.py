"""Which registers a whole warp still needs.

A warp's register is live as long as any of its lanes needs its own. While one arm of a divergent branch executes, lanes of
the other arms wait: at the beginning of their arm, or already at the point of reconvergence. What they need there stays live
throughout the diverged region, whatever the executing arm writes.
"""

from __future__ import annotations

from warploom.compiler.code.convergence import partings
from warploom.compiler.code.divergence import analyse_divergence
from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.liveness import Liveness, thread_liveness


def warp_liveness(
    code: Code, graph: FlowGraph | None = None, divergent: frozenset[int] | None = None, *, by_arm: bool = False
) -> Liveness:
    """The liveness of a warp's registers; `divergent` are the blocks that end in a divergent branch, analysed when not given.

    By default what any arm of a branch needs is live until all lanes have met. `by_arm` is finer: an arm keeps for lanes that
    wait what the other arms and the meeting point need, while its own needs end with its own last read.
    """
    graph = graph or flow_graph(code)
    divergent = divergent if divergent is not None else analyse_divergence(code, graph).branches
    thread = thread_liveness(code, graph)
    held = waiting_needs(graph, thread, divergent, by_arm)
    block_in = [live | kept for live, kept in zip(thread.block_in, held, strict=True)]
    block_out = [live | kept for live, kept in zip(thread.block_out, held, strict=True)]
    return Liveness(thread.slots, thread.accesses, block_in, block_out, thread.defined_in, held)


def waiting_needs(graph: FlowGraph, thread: Liveness, divergent: frozenset[int], by_arm: bool = False) -> list[int]:
    """Per block, the slots that waiting lanes may need while others execute it."""
    held = [0] * len(graph)
    for parting in partings(graph, divergent).values():
        for arm, waiting in parting.arms if by_arm else ((parting.region, parting.waiting),):
            needed = 0
            for block in waiting:
                needed |= thread.block_in[block]
            for block in arm:
                held[block] |= needed
    return held
