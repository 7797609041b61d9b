"""Where a warp must hold its extended registers, and where it acquires and releases them.

Code needs them wherever more registers of the warp are live than the base set has. Regions that a few instructions separate are
joined, for a release and an acquire cost as much, and a loop that needs them almost throughout keeps them. No region spans
a barrier: a warp that waits there for others must not keep from them what they wait for.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from warploom.compiler.code.classes import add_operation
from warploom.compiler.code.divergence import analyse_divergence
from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import WAITS, Code, Instruction
from warploom.compiler.code.loops import loop_depths
from warploom.compiler.code.sass_classes import ATOMICS, LOADS, SASS_SPACES
from warploom.compiler.code.warp import warp_liveness
from warploom.compiler.code.warp_flow import warp_predecessors

ACQUIRE = add_operation("acquire", __name__, issued=True)
RELEASE = add_operation("release", __name__, issued=True)
SHORT_GAP = 4  # instructions: twice what a release and an acquire cost
SLOW_ACCESS = 20  # several hundred cycles, in which each of some tens of warps issues once or twice


def ends_by_arm(code: Code) -> bool:
    """Whether a value that one arm of a divergent branch needs ends with the arm's own last read, not where all lanes meet.

    The paper lets it live to the branch's immediate post-dominator, where its machine brings lanes together. In SASS they may
    stay apart far beyond that, through a whole nest of loops.
    """
    return code.binary is not None


def is_barrier(instruction: Instruction) -> bool:
    """Whether warps wait for each other here."""
    return instruction.op.name == "BAR" or (instruction.op.name == "bar" and "warp" not in instruction.op.modifiers)


def barrier_pressure(code: Code) -> int:
    """The most registers that a warp keeps live across a barrier: no base set may be smaller."""
    pressure = warp_liveness(code, by_arm=ends_by_arm(code)).pressure
    return max(
        (live for live, instruction in zip(pressure, code.instructions(), strict=True) if is_barrier(instruction)), default=0
    )


@dataclass(frozen=True)
class Regions:
    """A plan of acquires and releases for a size of the base set.

    Positions are counted within their block: before its instruction of that number.
    """

    held: tuple[bool, ...]  # per pc: the instruction executes with the extended registers
    acquires: tuple[tuple[int, int], ...]  # (block, position)
    releases: tuple[tuple[int, int], ...]
    compactions: tuple[tuple[int, int], ...]  # where values that live on must be brought down: before releases, or earlier
    divergent: frozenset[int]  # blocks that end in a divergent branch; moves that are put in make no more of them so

    @property
    def empty(self) -> bool:
        return not any(self.held)


def plan_regions(code: Code, base: int, *, by_arm: bool = True) -> Regions | None:
    """The regions of code that has `base` registers of its own; None when that is not enough at a barrier.

    Without ``by_arm`` values live on to where all lanes meet also where they could end with their arm.
    """
    graph = flow_graph(code)
    divergent = analyse_divergence(code, graph).branches
    pressure = warp_liveness(code, graph, divergent, by_arm=by_arm and ends_by_arm(code)).pressure
    need = [live > base for live in pressure]
    barrier = [is_barrier(instruction) for instruction in code.instructions()]
    if any(needed and waits for needed, waits in zip(need, barrier, strict=True)):
        return None
    before = warp_predecessors(graph, divergent)
    held = _join_short_gaps(code, before, need, barrier)
    return _Placement(code, graph, before, held).plan(divergent)


def held_share(code: Code, regions: Regions) -> float:
    """The share of its time that a warp holds its extended registers, if every loop runs ten times."""
    depths = loop_depths(flow_graph(code))
    times = [10 ** depths[number] * _time(i) for number, block in enumerate(code.blocks) for i in block.instructions]
    return sum(time for time, holds in zip(times, regions.held, strict=True) if holds) / max(1, sum(times))


def _time(instruction: Instruction) -> int:
    """How long an instruction keeps its warp, in instructions of an SM with many warps."""
    name = instruction.op.name
    loads = name in ("ld", "tex", "atom") or name in LOADS or name in ATOMICS
    slow = loads and SASS_SPACES.get(name, instruction.op.space) not in ("shared", "const", "param")
    return SLOW_ACCESS if slow else 1


def _join_short_gaps(code: Code, before: list[frozenset[int]], need: list[bool], barrier: list[bool]) -> list[bool]:
    """The needs, and what lies on a short way from one to another without a barrier."""
    starts = code.block_starts()
    previous: list[list[int]] = [[] for _ in need]
    following: list[list[int]] = [[] for _ in need]
    for number in range(len(code.blocks)):
        first, end = starts[number], starts[number + 1]
        for pc in range(first + 1, end):
            previous[pc].append(pc - 1)
        if first < end:
            previous[first] = [starts[block + 1] - 1 for block in before[number] if starts[block + 1] > starts[block]]
    for pc, earlier in enumerate(previous):
        for other in earlier:
            following[other].append(pc)
    since = _distance(need, barrier, following)
    until = _distance(need, barrier, previous)
    return [needed or a + b - 1 <= SHORT_GAP for needed, a, b in zip(need, since, until, strict=True)]


def _distance(need: list[bool], barrier: list[bool], edges: list[list[int]]) -> list[int]:
    """How many steps along the edges lead from a need to each instruction; more than any gap where none does or a barrier is."""
    far = SHORT_GAP + 2
    distance = [0 if needed else far for needed in need]
    pending = deque(pc for pc, needed in enumerate(need) if needed)
    while pending:
        pc = pending.popleft()
        for other in edges[pc]:
            if distance[other] > distance[pc] + 1 and not barrier[other]:
                distance[other] = distance[pc] + 1
                pending.append(other)
    return distance


@dataclass
class _Placement:
    """Finds the points where the state of the warp must change."""

    code: Code
    graph: FlowGraph
    before: list[frozenset[int]]
    held: list[bool]
    acquires: set[tuple[int, int]] = field(default_factory=set)
    releases: set[tuple[int, int]] = field(default_factory=set)
    compactions: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        starts = self.code.block_starts()
        self.inside = [self.held[starts[n] : starts[n + 1]] for n in range(len(self.code.blocks))]
        self.leaves = [bool(states) and states[-1] for states in self.inside]

    def plan(self, divergent: frozenset[int]) -> Regions:
        reachable = [block for block in self.graph.order if self.inside[block]]
        for block in reachable:
            self._within(block)
        depths = loop_depths(self.graph)
        for block in reachable:
            if self.inside[block][0]:
                self._enter_held(block, depths)
        for block in reachable:
            if not self.inside[block][0]:
                self._enter_unheld(block)
        acquires, releases, compactions = map(sorted, (self.acquires, self.releases, self.compactions))
        return Regions(tuple(self.held), tuple(acquires), tuple(releases), tuple(compactions), divergent)

    def _within(self, block: int) -> None:
        states = self.inside[block]
        for position in range(1, len(states)):
            if states[position] and not states[position - 1]:
                self.acquires.add((block, position))
            elif states[position - 1] and not states[position]:
                self.releases.add((block, position))
                self.compactions.add((block, position))

    def _end(self, block: int) -> int:
        """The last position of a block: before the branch that ends it, if one does, or what lanes wait at."""
        instructions = self.code.blocks[block].instructions
        before = bool(instructions) and (instructions[-1].ends_block or instructions[-1].op.name in WAITS)
        return len(instructions) - before

    def _enter_held(self, block: int, depths: list[int]) -> None:
        """Acquire at the ends of the blocks before, where nothing else follows them or that is outside of a loop; else here."""
        without = [other for other in self.before[block] if not self.leaves[other]]
        if block == 0 or not self.before[block]:
            self.acquires.add((block, 0))
            return
        for other in without:
            successors = self.graph.successors[other]
            alone = all(self.inside[successor] and self.inside[successor][0] for successor in successors)
            last = self.code.blocks[other].instructions[-1:]
            waits = not last or last[0].op.name in WAITS  # behind which it must not hold them yet; or there is no place in it
            if block not in successors or waits or not (alone or depths[other] < depths[block]):
                self.acquires.add((block, 0))
                return
        for other in without:
            self.acquires.add((other, self._end(other)))
            self.leaves[other] = True

    def _enter_unheld(self, block: int) -> None:
        """Release here what any block before leaves held, with compaction here if all do, else at the ends of those that do."""
        holding = [other for other in self.before[block] if self.leaves[other]]
        if not holding:
            return
        self.releases.add((block, 0))
        if len(holding) == len(self.before[block]) and block != 0:
            self.compactions.add((block, 0))
            return
        for other in holding:
            if block in self.graph.successors[other]:
                self.compactions.add((other, self._end(other)))
