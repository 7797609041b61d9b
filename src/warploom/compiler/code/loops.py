"""Natural loops and how deep each block lies in them."""

from __future__ import annotations

from dataclasses import dataclass

from warploom.compiler.code.dominators import dominance_intervals, immediate_dominators
from warploom.compiler.code.graph import FlowGraph


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop: all back edges to one header, merged."""

    header: int
    blocks: frozenset[int]
    latches: tuple[int, ...]  # the blocks that branch back to the header
    parent: int | None  # the header of the smallest loop around it
    depth: int  # 1 for an outermost loop


def find_loops(graph: FlowGraph, dominator: list[int] | None = None) -> dict[int, Loop]:
    """The natural loops by header, in reverse post-order of the headers (outer before inner)."""
    dominator = dominator if dominator is not None else immediate_dominators(graph)
    first, last = dominance_intervals(dominator)
    latches: dict[int, list[int]] = {}
    for block in graph.order:
        for successor in graph.successors[block]:
            if first[successor] <= first[block] and last[block] <= last[successor]:
                latches.setdefault(successor, []).append(block)
    bodies: dict[int, frozenset[int]] = {}
    for header in graph.order:
        if header not in latches:
            continue
        body = {header}
        pending = [latch for latch in latches[header] if latch != header]
        while pending:
            block = pending.pop()
            if block not in body:
                body.add(block)
                pending.extend(p for p in graph.predecessors[block] if dominator[p] >= 0)
        bodies[header] = frozenset(body)
    loops: dict[int, Loop] = {}
    for header, blocks in bodies.items():
        around = [other for other in loops.values() if header in other.blocks and other.header != header]
        parent = min(around, key=lambda loop: len(loop.blocks), default=None)
        depth = parent.depth + 1 if parent else 1
        loops[header] = Loop(header, blocks, tuple(latches[header]), parent.header if parent else None, depth)
    return loops


def loop_depths(graph: FlowGraph, loops: dict[int, Loop] | None = None) -> list[int]:
    """For each block, in how many loops it lies."""
    loops = loops if loops is not None else find_loops(graph)
    depths = [0] * len(graph)
    for loop in loops.values():
        for block in loop.blocks:
            depths[block] += 1
    return depths
