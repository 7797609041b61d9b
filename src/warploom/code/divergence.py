"""Which branches the lanes of one warp may take differently.

A value varies between lanes if it comes from the lane's identity or from memory that differs, or if lanes that were apart
bring different definitions of it to the point where they meet. Everything else is uniform: parameters, block indices, loads
from one address.
"""

from __future__ import annotations

from dataclasses import dataclass

from warploom.code.dominators import immediate_post_dominators
from warploom.code.graph import FlowGraph, flow_graph
from warploom.code.instruction import Code, Instruction, Reg, Special
from warploom.code.liveness import Liveness, thread_liveness
from warploom.code.slots import bits
from warploom.code.values import Value, Values, value_instances

_VARYING_SPECIALS = ("tid", "laneid", "lanemask")
_UNIFORM_SPACES = ("param", "const", "global", "shared")  # one address gives one value; local and generic may be a lane's own
_VARYING_RESULTS = ("atom", "shfl", "match")
_WARP_WIDE = ("vote", "activemask", "redux")  # every lane named in the member mask gets the same result


@dataclass(frozen=True)
class Divergence:
    """The result of the analysis."""

    branches: frozenset[int]  # blocks that end in a divergent branch
    varying: frozenset[int]  # numbers of the values that may differ between lanes
    values: Values


def divergent_region(graph: FlowGraph, post: list[int], branch: int) -> frozenset[int]:
    """The blocks in which lanes that block `branch` separated may be before they meet again."""
    return reached(graph, graph.successors[branch], post[branch])


def arms(graph: FlowGraph, post: list[int], branch: int) -> list[tuple[frozenset[int], tuple[int, ...]]]:
    """The arms of a divergent branch: the blocks of each, and those at whose start the other lanes wait meanwhile.

    A warp executes one arm after the other, so that lanes of the others wait at the start of theirs or where all meet.
    """
    meeting = post[branch]
    found = []
    for successor in graph.successors[branch]:
        if successor != meeting:
            others = {other for other in graph.successors[branch] if other != successor} | {meeting}
            waiting = tuple(sorted(block for block in others if block < len(graph)))
            found.append((reached(graph, (successor,), meeting), waiting))
    return found


def reached(graph: FlowGraph, starts: tuple[int, ...], meeting: int) -> frozenset[int]:
    """The blocks that control reaches from some blocks before the meeting point."""
    seen: set[int] = set()
    pending = [start for start in starts if start != meeting]
    while pending:
        block = pending.pop()
        if block not in seen:
            seen.add(block)
            pending.extend(successor for successor in graph.successors[block] if successor != meeting)
    return frozenset(seen)


def analyse_divergence(code: Code, graph: FlowGraph | None = None) -> Divergence:
    """Find the divergent branches and the varying values of a kernel."""
    graph = graph or flow_graph(code)
    return _Analysis(code, graph, value_instances(code, graph)).run()


class _Analysis:
    """A fixed point: varying values make branches divergent, divergent branches make merged values vary."""

    def __init__(self, code: Code, graph: FlowGraph, values: Values):
        self.graph, self.values = graph, values
        self.instructions = list(code.instructions())
        self.post = immediate_post_dominators(graph)
        self.liveness: Liveness = thread_liveness(code, graph)
        self.starts = code.block_starts()
        self.block_of = [number for number, block in enumerate(code.blocks) for _ in block.instructions]
        self.varying: set[int] = set()
        self.branches: set[int] = set()
        self.pending: list[Value] = []
        self.reads: list[list[Value]] = [[] for _ in self.instructions]
        for (pc, _), value in values.used.items():
            self.reads[pc].append(value)
        self.writes: list[list[Value]] = [[] for _ in self.instructions]
        for (pc, _), value in values.defined.items():
            self.writes[pc].append(value)

    def run(self) -> Divergence:
        for pc in range(len(self.instructions)):
            self.visit(pc)
        while self.pending:
            for pc in self.pending.pop().uses:
                self.visit(pc)
        return Divergence(frozenset(self.branches), frozenset(self.varying), self.values)

    def visit(self, pc: int) -> None:
        instruction = self.instructions[pc]
        guard_varies = instruction.guard is not None and self._varies(pc, instruction.guard.predicate)
        if instruction.op.name == "bra" and guard_varies:
            block = self.block_of[pc]
            if block not in self.branches and len(self.graph.successors[block]) > 1 and self.post[block] >= 0:
                self.branches.add(block)
                self._merge(block)
        if self.writes[pc] and (guard_varies or self._result_varies(pc, instruction)):
            for value in self.writes[pc]:
                self._mark(value)

    def _mark(self, value: Value) -> None:
        if value.number not in self.varying:
            self.varying.add(value.number)
            self.pending.append(value)

    def _varies(self, pc: int, register: Reg) -> bool:
        mask = self.values.slots.mask(register)
        return any(self.values.used[pc, slot].number in self.varying for slot in bits(mask))

    def _result_varies(self, pc: int, instruction: Instruction) -> bool:
        op = instruction.op
        if op.name in _VARYING_RESULTS and not (op.name == "match" and "all" in op.modifiers):
            return True
        if op.name in ("ld", "ldu") and op.space not in _UNIFORM_SPACES:
            return True
        if op.name in _WARP_WIDE:
            members = instruction.srcs[-1] if instruction.srcs else None
            return isinstance(members, Reg) and self._varies(pc, members)
        if any(isinstance(src, Special) and src.name.startswith(_VARYING_SPECIALS) for src in instruction.srcs):
            return True
        return any(value.number in self.varying for value in self.reads[pc])

    def _merge(self, branch: int) -> None:
        """Mark the values of which lanes separated by a branch may bring different definitions to where they meet."""
        meeting, graph = self.post[branch], self.graph
        arms = [self._arm(successor, branch, meeting) for successor in graph.successors[branch]]
        region = divergent_region(graph, self.post, branch)
        meetings = frozenset.intersection(*arms) if len(arms) > 1 else frozenset()
        cyclic = branch in region  # lanes may leave after different numbers of iterations
        for block in sorted(meetings | ({meeting} if meeting < len(graph) else set())):
            for slot in bits(self.liveness.block_in[block]):
                value = self.values.entering(block, slot)
                if value is None or value.number in self.varying or (len(value.definitions) < 2 and not cyclic):
                    continue
                if any(self.block_of[pc] in region for pc in value.definitions):
                    self._mark(value)

    def _arm(self, start: int, branch: int, meeting: int) -> frozenset[int]:
        """The blocks reached from one successor of a branch without passing the branch again or the meeting point."""
        seen: set[int] = set()
        pending = [start] if start != meeting else []
        while pending:
            block = pending.pop()
            if block not in seen and block != branch:
                seen.add(block)
                pending.extend(successor for successor in self.graph.successors[block] if successor != meeting)
        return frozenset(seen)
