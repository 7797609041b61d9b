"""Where lanes that a divergent branch separates are until they meet again, and where they wait for each other meanwhile.

Code of our backend is executed arm by arm up to the immediate post-dominator of the branch. In SASS lanes meet at convergence
barriers alone, or where all wait for all; until then every group goes its own way, and waits wherever the warp turns to another.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warploom.compiler.code.barriers import Barriers
from warploom.compiler.code.dominators import immediate_post_dominators
from warploom.compiler.code.graph import FlowGraph


@dataclass(frozen=True)
class Parting:
    """What follows a divergent branch."""

    region: frozenset[int]  # the blocks that lanes may execute apart from others
    waiting: frozenset[int]  # blocks at whose start lanes may wait while others execute the region
    ends: frozenset[int]  # blocks of the region behind which the warp may turn to lanes that wait
    arms: tuple[tuple[frozenset[int], frozenset[int]], ...]  # the blocks of each arm, and where lanes of the others may wait


def meetings(graph: FlowGraph, branch: int) -> tuple[int, ...]:
    """The blocks in which lanes that a branch separated are together again; none where they go apart to the end."""
    if graph.barriers is None:
        meeting = immediate_post_dominators(graph)[branch]
        return (meeting,) if meeting < len(graph) else ()
    barriers, holding = graph.barriers, graph.barriers.open_after[branch]
    region = apart_in_sass(graph, barriers, branch, graph.successors[branch])
    together = {block for block in region if barriers.closed[block] in holding}
    if len(region & barriers.gathering) == 1:
        together |= region & barriers.gathering
    return tuple(sorted(block + 1 for block in together if block + 1 < len(graph)))


def partings(graph: FlowGraph, divergent: Iterable[int]) -> dict[int, Parting]:
    """Of each divergent branch, by its block, what follows it."""
    branches = frozenset(divergent)
    if graph.barriers is not None:
        return {branch: _parting_in_sass(graph, graph.barriers, branch, branches) for branch in sorted(branches)}
    post = immediate_post_dominators(graph) if branches else []
    return {branch: _parting(graph, post[branch], branch) for branch in sorted(branches)}


def _parting(graph: FlowGraph, meeting: int, branch: int) -> Parting:
    """A warp executes one arm after the other; lanes of the others wait at the start of theirs or where all meet."""
    successors = graph.successors[branch]
    region = _reached(graph, successors, meeting)
    inside = frozenset(block for block in (meeting,) if block < len(graph))
    ends = frozenset(block for block in region if meeting in graph.successors[block] or block in graph.exits)
    arms = [
        (_reached(graph, (successor,), meeting), frozenset(successors) - {successor} | inside)
        for successor in successors
        if successor != meeting
    ]
    return Parting(region, frozenset(successors) | inside, ends, tuple(arms))


def _reached(graph: FlowGraph, starts: Iterable[int], meeting: int) -> frozenset[int]:
    """The blocks that control reaches from some blocks before the meeting point."""
    seen: set[int] = set()
    pending = [start for start in starts if start != meeting]
    while pending:
        block = pending.pop()
        if block not in seen:
            seen.add(block)
            pending.extend(successor for successor in graph.successors[block] if successor != meeting)
    return frozenset(seen)


def apart_in_sass(graph: FlowGraph, barriers: Barriers, branch: int, starts: Iterable[int]) -> frozenset[int]:
    """The blocks reached from some successors of a branch before a barrier that holds all lanes which came to the branch.

    The warp is together too behind an instruction at which all lanes wait for each other, if all arms come to the same one.
    """
    starts, holding = tuple(starts), barriers.open_after[branch]
    while True:
        closing = frozenset(block for block, register in enumerate(barriers.closed) if register in holding)
        seen = _before(graph, starts, closing)
        set_again = {register for block in seen for register in barriers.changed[block]} & holding
        if not set_again:
            break
        holding -= set_again
    ending = closing | barriers.gathering
    gathered = _before(graph, graph.successors[branch], ending) & barriers.gathering
    return _before(graph, starts, ending) if len(gathered) == 1 else seen


def _before(graph: FlowGraph, starts: Iterable[int], last: frozenset[int]) -> frozenset[int]:
    """The blocks that control reaches from some blocks, up to those that are the last."""
    seen: set[int] = set()
    pending = list(starts)
    while pending:
        block = pending.pop()
        if block not in seen:
            seen.add(block)
            if block not in last:
                pending.extend(graph.successors[block])
    return frozenset(seen)


def _parting_in_sass(graph: FlowGraph, barriers: Barriers, branch: int, divergent: frozenset[int]) -> Parting:
    successors = graph.successors[branch]

    def waits(blocks: frozenset[int]) -> frozenset[int]:
        behind = {block + 1 for block in blocks & barriers.waiting if block + 1 < len(graph)}
        return frozenset(behind.union(*(graph.successors[other] for other in blocks & divergent)))

    region = apart_in_sass(graph, barriers, branch, successors)
    waiting = frozenset(successors) | waits(region)
    ends = frozenset(block for block in region if block in barriers.waiting or block in graph.exits)
    ways = {successor: apart_in_sass(graph, barriers, branch, (successor,)) for successor in successors}
    arms = [
        (way, frozenset().union(*({other} | waits(others) for other, others in ways.items() if other != successor)))
        for successor, way in ways.items()
    ]
    if len(successors) == 1:  # groups go one way, one after the other
        arms = [(region, waiting)]
    return Parting(region, waiting, ends, tuple(arms))
