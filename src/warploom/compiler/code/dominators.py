"""Dominators, post-dominators, and where diverged lanes meet again.

The iterative algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm").
"""

from __future__ import annotations

from warploom.compiler.code.graph import FlowGraph, flow_graph, reverse_post_order
from warploom.compiler.code.instruction import Code

Edges = tuple[tuple[int, ...], ...]


def _immediate(order: tuple[int, ...], predecessors: Edges) -> list[int]:
    """The immediate dominator of each node; the root has itself, a node that the root does not reach has -1."""
    position = {node: place for place, node in enumerate(order)}
    dominator = [-1] * len(predecessors)
    root = order[0]
    dominator[root] = root
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            candidate = -1
            for predecessor in predecessors[node]:
                if dominator[predecessor] < 0:
                    continue
                if candidate < 0:
                    candidate = predecessor
                    continue
                other = predecessor
                while candidate != other:
                    while position[candidate] > position[other]:
                        candidate = dominator[candidate]
                    while position[other] > position[candidate]:
                        other = dominator[other]
            if dominator[node] != candidate:
                dominator[node] = candidate
                changed = True
    return dominator


def immediate_dominators(graph: FlowGraph) -> list[int]:
    """The immediate dominator of each block; the entry has itself, unreachable blocks have -1."""
    return _immediate(graph.order, graph.predecessors) if graph.order else []


def immediate_post_dominators(graph: FlowGraph) -> list[int]:
    """The immediate post-dominator of each block: ``len(graph)`` stands for leaving the kernel, -1 for unreachable blocks.

    A loop without an exit is given one for the analysis, from its last block in reverse post-order.
    """
    count = leaving = len(graph)
    reachable = graph.reachable
    ends = {block for block in graph.exits if block in reachable}

    def reaching(targets: set[int]) -> set[int]:
        """The blocks from which control can reach one of the targets."""
        seen, pending = set(targets), list(targets)
        while pending:
            for predecessor in graph.predecessors[pending.pop()]:
                if predecessor in reachable and predecessor not in seen:
                    seen.add(predecessor)
                    pending.append(predecessor)
        return seen

    leaves = reaching(ends)
    for block in reversed(graph.order):
        if block not in leaves:
            ends.add(block)
            leaves |= reaching({block})
    backward: list[tuple[int, ...]] = [
        tuple(p for p in graph.predecessors[block] if p in reachable) if block in reachable else () for block in range(count)
    ]
    backward.append(tuple(sorted(ends)))
    forward = [graph.successors[block] + ((leaving,) if block in ends else ()) for block in range(count)]
    forward.append(())
    order = reverse_post_order(tuple(backward), leaving)
    return _immediate(order, tuple(forward))[:count]


def dominance_intervals(dominator: list[int]) -> tuple[list[int], list[int]]:
    """For each block the interval of its subtree in the dominator tree: one holds another exactly if it dominates it.

    Unreachable blocks dominate nothing.
    """
    count = len(dominator)
    children: list[list[int]] = [[] for _ in range(count)]
    for block, parent in enumerate(dominator):
        if parent >= 0 and parent != block:
            children[parent].append(block)
    first, last = [-1] * count, [-2] * count
    clock = 0
    stack = [(0, False)] if count else []
    while stack:
        block, done = stack.pop()
        if done:
            last[block] = clock
            continue
        first[block] = clock
        clock += 1
        stack.append((block, True))
        stack += [(child, False) for child in children[block]]
    return first, last


def reconvergence_points(code: Code) -> dict[int, int]:
    """For each conditional branch, by pc, the pc at which lanes that it separates meet again; ``len(code)`` if never."""
    graph = flow_graph(code)
    starts = code.block_starts()
    post = immediate_post_dominators(graph)
    points = {}
    for number, block in enumerate(code.blocks):
        if block.instructions and post[number] >= 0:
            last = block.instructions[-1]
            if last.op.name == "bra" and last.guard is not None:
                points[starts[number + 1] - 1] = starts[post[number]]
    return points
